import { fill, h } from "../core/dom.js";
import { squarify } from "./squarify.js";

const HEAD = 18;
const GAP = 2;

/**
 * Tiles in groups: the area is the size, the colour the heat.
 * @param {{
 *   groups: {name: string, tiles: {name: string, size: number, heat: 1|2|3|4|5, lines: [string, string][], href: string}[]}[],
 *   description: string, height?: number, onChoose: (tile) => void
 * }} options `lines` stand in the note under the pointer; a table beside the treemap says the same to the keyboard
 */
export function treemap({ groups, description, height = 420, onChoose }) {
  const plot = h("div", { class: "treemap-plot", role: "img", "aria-label": description });
  const tip = h("div", { class: "chart-tip", hidden: true });
  const ordered = groups.map(withSize).sort((a, b) => b.size - a.size);
  new ResizeObserver(() => draw(plot, ordered, height)).observe(plot);
  plot.addEventListener("pointermove", (event) => point(plot, tip, event));
  plot.addEventListener("pointerleave", () => (tip.hidden = true));
  plot.addEventListener("click", (event) => chosen(event)?.tile && onChoose(chosen(event).tile));
  return h("div", { class: "treemap", style: { height: `${height}px` } }, plot, tip);
}

/** What the five heats mean, for the legend under a treemap: pairs of heat and text. */
export function heatLegend(entries) {
  return h("div", { class: "legend" }, entries.map(([heat, text]) => h("span", { class: "legend-item" }, h("span", { class: "swatch heat", data: { heat } }), text)));
}

function withSize(group) {
  const tiles = [...group.tiles].sort((a, b) => b.size - a.size);
  return { ...group, tiles, size: tiles.reduce((sum, { size }) => sum + size, 0) };
}

function draw(plot, groups, height) {
  const places = squarify(groups, { x: 0, y: 0, width: plot.clientWidth, height });
  fill(plot, places.map(groupAt));
}

function groupAt({ item, x, y, width, height }) {
  const hasHead = width > 60 && height > 50;
  const inner = { x: 0, y: hasHead ? HEAD : 0, width: width - GAP, height: height - GAP - (hasHead ? HEAD : 0) };
  const head = hasHead && h("div", { class: "treemap-head clip" }, item.name);
  return h("div", { class: "treemap-group", style: box({ x, y, width: width - GAP, height: height - GAP }) }, head, squarify(item.tiles, inner).map(tileAt));
}

function tileAt({ item, x, y, width, height }) {
  const hasName = width > 44 && height > 20;
  const element = h("div", { class: "treemap-tile heat", data: { heat: item.heat }, style: box({ x, y, width: width - 1, height: height - 1 }) }, hasName && h("span", { class: "clip" }, item.name));
  element.tile = item;
  return element;
}

function box({ x, y, width, height }) {
  return { left: `${x}px`, top: `${y}px`, width: `${Math.max(0, width)}px`, height: `${Math.max(0, height)}px` };
}

function chosen(event) {
  return event.target.closest(".treemap-tile");
}

function point(plot, tip, event) {
  const tile = chosen(event)?.tile;
  tip.hidden = !tile;
  if (!tile) return;
  fill(tip, h("div", { class: "tip-head" }, tile.name), tile.lines.map(([name, value]) => h("div", { class: "tip-line" }, name, h("b", null, value))));
  const { left, top, width } = plot.getBoundingClientRect();
  const [x, y] = [event.clientX - left, event.clientY - top];
  tip.style.transform = `translate(calc(${x}px ${x > width / 2 ? "- 100% - 12px" : "+ 12px"}), ${y + 12}px)`;
}

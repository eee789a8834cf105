/** A graph on a canvas: drag to move, buttons (or Ctrl with the wheel) to zoom, a click to choose. */

import { h } from "../core/dom.js";
import { icon } from "../ui/icons.js";
import { paintGraph } from "./graph-paint.js";

const ZOOM = { least: 0.08, legible: 0.42, most: 2, step: 1.3 };
const DRAG_PIXELS = 4;
const ROOM = 24;

/**
 * @param {{nodes: object[], edges: object[], chosen: string, description: string, onChoose: (id: string) => void,
 *   onOpen: (id: string) => void}} options nodes are boxes `{id, label, note, x, y, width, height, color, isBad, isGhost}`,
 *   edges `{source, target, weight, isViolation, isCircular}`; a click chooses a node, a double click opens it
 */
export function graphCanvas({ nodes, edges, chosen, description, onChoose, onOpen }) {
  const canvas = h("canvas", { class: "graph-canvas", tabindex: "0", role: "img", "aria-label": `${description} Arrow keys move, plus and minus zoom.` });
  const view = { canvas, nodes, edges, chosen, hovered: "", scale: 1, x: 0, y: 0, boxes: new Map(nodes.map((node) => [node.id, node])) };
  const draw = () => requestAnimationFrame(() => paintGraph(view));
  new ResizeObserver(() => fit(view, draw, ZOOM.legible)).observe(canvas);
  const redraw = () => (canvas.isConnected ? draw() : document.removeEventListener("themechange", redraw));
  document.addEventListener("themechange", redraw);
  listen(view, draw, { onChoose, onOpen });
  const zoomBy = (factor) => zoom(view, factor, canvas.clientWidth / 2, canvas.clientHeight / 2, draw);
  const tools = h(
    "div",
    { class: "graph-tools" },
    tool("plus", "Zoom in", () => zoomBy(ZOOM.step)),
    tool("minus", "Zoom out", () => zoomBy(1 / ZOOM.step)),
    tool("fit", "Show everything", () => fit(view, draw, ZOOM.least)),
  );
  return h("div", { class: "graph-stage" }, canvas, tools);
}

function tool(name, label, onClick) {
  return h("button", { class: "button", type: "button", "aria-label": label, title: label, on: { click: onClick } }, icon(name, 16));
}

/** As much of the graph as there is room for at a scale of at least `least`, from its top. */
function fit(view, draw, least) {
  const { canvas, nodes } = view;
  const right = Math.max(1, ...nodes.map(({ x, width }) => x + width));
  const bottom = Math.max(1, ...nodes.map(({ y, height }) => y + height));
  const [width, height] = [canvas.clientWidth - 2 * ROOM, canvas.clientHeight - 2 * ROOM];
  view.scale = Math.min(1, Math.max(least, Math.min(width / right, height / bottom)));
  view.x = (canvas.clientWidth - right * view.scale) / 2;
  view.y = Math.max(ROOM, (canvas.clientHeight - bottom * view.scale) / 2);
  draw();
}

function zoom(view, factor, atX, atY, draw) {
  const scale = Math.min(ZOOM.most, Math.max(ZOOM.least, view.scale * factor));
  view.x = atX - ((atX - view.x) * scale) / view.scale;
  view.y = atY - ((atY - view.y) * scale) / view.scale;
  view.scale = scale;
  draw();
}

function listen(view, draw, { onChoose, onOpen }) {
  const { canvas } = view;
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, fromX: view.x, fromY: view.y, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held) drag(view, held, event);
    else hover(view, event);
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held && !held.moved) onChoose(nodeAt(view, event)?.id ?? "");
    held = null;
  });
  canvas.addEventListener("pointercancel", () => (held = null));
  canvas.addEventListener("dblclick", (event) => nodeAt(view, event) && onOpen(nodeAt(view, event).id));
  canvas.addEventListener("wheel", (event) => pinch(view, event, draw), { passive: false });
  canvas.addEventListener("keydown", (event) => press(view, event, draw));
}

function drag(view, held, event) {
  const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
  held.moved ||= Math.hypot(dx, dy) > DRAG_PIXELS;
  if (held.moved) [view.x, view.y] = [held.fromX + dx, held.fromY + dy];
}

function hover(view, event) {
  view.hovered = nodeAt(view, event)?.id ?? "";
  view.canvas.style.cursor = view.hovered ? "pointer" : "grab";
}

/** Trackpads send a pinch as a wheel with Ctrl; a plain wheel scrolls the page. */
function pinch(view, event, draw) {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(view, Math.exp(-event.deltaY / 200), event.offsetX, event.offsetY, draw);
}

function press(view, event, draw) {
  const move = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
  const factor = { "+": ZOOM.step, "-": 1 / ZOOM.step }[event.key];
  if (!move && !factor) return;
  event.preventDefault();
  if (factor) return zoom(view, factor, view.canvas.clientWidth / 2, view.canvas.clientHeight / 2, draw);
  view.x += move[0];
  view.y += move[1];
  draw();
}

function nodeAt({ canvas, nodes, x, y, scale }, event) {
  const { left, top } = canvas.getBoundingClientRect();
  const [px, py] = [(event.clientX - left - x) / scale, (event.clientY - top - y) / scale];
  return nodes.findLast((node) => px >= node.x && px <= node.x + node.width && py >= node.y && py <= node.y + node.height);
}

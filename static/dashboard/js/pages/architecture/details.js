/** What is known about the chosen box: beside the graph, or under it on narrow screens. */

import { h } from "../../core/dom.js";
import { count, number } from "../../core/format.js";
import { moduleName } from "../../data/words.js";
import { badge } from "../../ui/badge.js";
import { button } from "../../ui/button.js";
import { prose } from "../../ui/prose.js";

const SHOWN = 8;

/** The panel; how to use the graph while nothing is chosen. */
export function detailsOf({ nodes, edges }, chosen, page) {
  const node = nodes.find(({ id }) => id === chosen);
  if (!node) return h("aside", { class: "graph-details soft" }, h("p", null, "Choose a box to see what it imports and who imports it."), h("p", { class: "small faint" }, "Drag to move, Ctrl with the wheel to zoom, a double click opens a module."));
  const out = edges.filter(({ source }) => source === chosen);
  const into = edges.filter(({ target }) => target === chosen);
  return h(
    "aside",
    { class: "graph-details", "aria-label": `About ${node.label}` },
    h("h3", null, node.label),
    facts(node),
    actions(node, page),
    broken([...out, ...into]),
    neighbours("Imports", out, "target", page),
    neighbours("Imported by", into, "source", page),
  );
}

function facts({ path, id, files, violations, complexity, linesOfCode, layer, isHotspot, isGhost }) {
  if (isGhost) return h("p", { class: "small soft" }, "Another module");
  return h(
    "div",
    { class: "stack stack-tight" },
    h("p", { class: "small faint mono clip" }, path ?? id),
    h("div", { class: "row" }, layer && badge(`Layer ${layer}`), isHotspot && badge("Hotspot", "critical"), files && badge(count(files, "file")), badge(count(violations, "violation"), violations ? "warning" : "good"), linesOfCode !== undefined && badge(`${number(linesOfCode)} lines`), complexity !== undefined && badge(`complexity ${number(complexity)}`)),
  );
}

function actions({ id, module, opens, isGhost }, page) {
  const base = `/repos/${page.params.repositoryId}/violations`;
  const open = (name) => page.setQuery({ module: name, chosen: "" });
  if (isGhost) return h("div", { class: "row" }, button("Open this module", { size: "s", onClick: () => open(module) }));
  if (opens) return h("div", { class: "row" }, button("Show its files", { size: "s", kind: "primary", onClick: () => open(id) }), h("a", { class: "button", "data-size": "s", href: `${base}?module=${encodeURIComponent(id)}` }, "Violations"));
  return h("div", { class: "row" }, h("a", { class: "button", "data-size": "s", href: `${base}?file=${encodeURIComponent(id)}` }, "Violations"));
}

function broken(edges) {
  const found = edges.flatMap(({ imports }) => imports).filter(({ isViolation }) => isViolation);
  if (found.length === 0) return null;
  return h("div", { class: "stack stack-tight" }, h("h4", null, count(found.length, "forbidden import")), h("ul", { class: "graph-list" }, found.slice(0, SHOWN).map(({ message }) => h("li", { class: "small" }, prose(message ?? "")))));
}

function neighbours(name, edges, end, page) {
  if (edges.length === 0) return h("p", { class: "small faint" }, `${name}: nothing here`);
  const ordered = [...edges].sort((a, b) => b.weight - a.weight);
  const line = (edge) =>
    h("li", null, h("button", { class: "link", type: "button", on: { click: () => page.setQuery({ chosen: edge[end] }, { replace: true }) } }, moduleName(edge[end].replace(/^module /, "").split("/").at(-1))), h("span", { class: "small faint number" }, ` ${edge.weight}`), edge.isCircular && [" ", badge("cycle", "warning")]);
  const rest = ordered.length - SHOWN;
  return h("div", { class: "stack stack-tight" }, h("h4", null, `${name} ${edges.length}`), h("ul", { class: "graph-list" }, ordered.slice(0, SHOWN).map(line)), rest > 0 && h("p", { class: "small faint" }, `and ${number(rest)} more`));
}

/** Who imports whom: modules first, the files of one module when it is opened. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { number } from "../core/format.js";
import { moduleName } from "../data/words.js";
import { graphCanvas } from "../charts/graph.js";
import { card } from "../ui/card.js";
import { choice } from "../ui/choice.js";
import { state } from "../ui/states.js";
import { fileLevel, moduleLevel, withCycles } from "./architecture/model.js";
import { detailsOf } from "./architecture/details.js";
import { picture } from "./architecture/picture.js";
import { moduleTable } from "./architecture/table.js";

export const title = "Architecture";

const KINDS = [["", "All imports"], ["violations", "Violations"], ["cycles", "Cycles"]];

// The graph may be megabytes: it is kept while somebody walks through it.
let kept = { key: "", graph: null };

export async function load({ params, signal }) {
  const key = params.repositoryId;
  const graph = await api.get(`/api/repos/${key}/architecture-graph`, { signal });
  if (kept.key !== key || kept.graph.stats.totalEdges !== graph.stats.totalEdges) kept = { key, graph: withCycles(graph) };
  return kept.graph;
}

export function view(graph, page) {
  if (graph.nodes.length === 0) return card({}, state({ icon: "graph", title: "No graph yet", text: "It is drawn from the imports that the first scan finds." }));
  const opened = graph.modules.some(({ name }) => name === page.query.get("module")) ? page.query.get("module") : "";
  const level = opened ? fileLevel(graph, opened) : moduleLevel(graph);
  const kind = page.query.get("show") ?? "";
  const chosen = page.query.get("chosen") ?? "";
  const drawn = picture(level, kind);
  return [
    figures(graph.stats),
    card(
      { flush: true, title: moduleName(opened) || "Modules", text: opened ? h("a", { href: page.path }, "← All modules") : "Importers stand above what they import", actions: kinds(kind, page) },
      h(
        "div",
        { class: "graph" },
        graphCanvas({
          ...drawn,
          chosen,
          description: describe(level, opened),
          onChoose: (id) => page.setQuery({ chosen: id }, { replace: true }),
          onOpen: (id) => page.setQuery({ module: opened ? "" : id, chosen: "" }),
        }),
        detailsOf(level, chosen, page, graph),
      ),
      legend(graph.layers, level),
    ),
    moduleTable(moduleLevel(graph), page),
  ];
}

function figures({ totalNodes, totalEdges, violationEdges, circularEdges, modules, layers }) {
  const entry = (value, text, tone) => h("div", { class: "figure-small", data: { tone } }, h("b", null, number(value)), h("span", null, text));
  return h(
    "div",
    { class: "figure-row" },
    entry(totalNodes, "files"),
    entry(modules, "modules"),
    entry(layers, layers ? "layers" : "layers: name them in the policy"),
    entry(totalEdges, "imports"),
    entry(violationEdges, "imports in violation", violationEdges ? "critical" : "good"),
    entry(circularEdges, "imports in cycles", circularEdges ? "warning" : "good"),
  );
}

function kinds(kind, page) {
  return choice({ id: "graph-kind", label: "Which imports", options: KINDS, value: kind, onChoose: (show) => page.setQuery({ show }) });
}

function describe({ nodes, edges }, opened) {
  const broken = edges.filter(({ isViolation }) => isViolation).length;
  const what = opened ? `Files of ${moduleName(opened)}` : "Modules";
  return `${what}: ${nodes.length} boxes, ${edges.length} lines, ${broken} of them violations. The table below tells the same.`;
}

function legend(layers, { isCut }) {
  const mark = (color, text) => h("span", { class: "legend-item" }, h("span", { class: "swatch", style: { "--series": color } }), text);
  return h(
    "div",
    { class: "legend graph-legend" },
    mark("var(--critical)", "Violation"),
    mark("var(--warning)", "Cycle"),
    layers.map(({ name, color }) => mark(color, `Layer ${name}`)),
    isCut && h("span", { class: "faint" }, "Only the files with the most imports and violations are drawn."),
  );
}

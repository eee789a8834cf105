/** The graph of the API at two levels: modules, and the files of one module with the modules around it. */

import { moduleName } from "../../data/words.js";

const MOST_FILES = 60; // more cannot be read at once

/** The graph with the module of each file at hand, and `isCircular` on the imports that are part of a cycle: one that
 * closes only inside functions counts as little here as in the figures. */
export function withCycles(graph) {
  const moduleOf = new Map(graph.nodes.map(({ id, module }) => [id, module]));
  return { ...graph, moduleOf, edges: marked(graph.edges, graph.cycles) };
}

/** Modules as nodes; all imports from one into another are one edge, circular when one of them is part of a cycle of files. */
export function moduleLevel(graph) {
  const nodes = graph.modules.map((module) => ({ ...module, id: module.name, label: moduleName(module.name), files: module.nodeCount, layer: layerOf(graph, module.name), opens: true }));
  const edges = merged(graph.edges, (id) => graph.moduleOf.get(id));
  return { nodes: colored(nodes, graph.layers), edges, isCut: false };
}

/** Files of one module; what lies outside is shown as its module. */
export function fileLevel(graph, name) {
  const files = graph.nodes.filter(({ module }) => module === name);
  const degree = degrees(graph.edges);
  const shown = [...files].sort((a, b) => b.violations - a.violations || degree(b.id) - degree(a.id)).slice(0, MOST_FILES);
  const inside = new Set(shown.map(({ id }) => id));
  const touching = graph.edges.filter(({ source, target }) => inside.has(source) || inside.has(target));
  const known = touching.filter(({ source, target }) => [source, target].every((id) => inside.has(id) || graph.moduleOf.get(id) !== name));
  const edges = merged(known, (id) => (inside.has(id) ? id : `module ${graph.moduleOf.get(id)}`));
  const around = [...new Set(edges.flatMap(({ source, target }) => [source, target]))].filter((id) => !inside.has(id));
  const ghosts = around.map((id) => id.slice("module ".length)).map((module) => ({ id: `module ${module}`, module, label: moduleName(module), isGhost: true, violations: 0 }));
  return { nodes: colored([...shown, ...ghosts], graph.layers), edges, isCut: shown.length < files.length };
}

function colored(nodes, layers) {
  const colors = new Map(layers.map(({ name, color }) => [name, color]));
  return nodes.map((node) => ({ ...node, color: colors.get(node.layer) ?? null }));
}

function merged(edges, groupOf) {
  const byPair = new Map();
  for (const edge of edges) {
    const [source, target] = [groupOf(edge.source), groupOf(edge.target)];
    if (source === target) continue;
    const key = `${source}\n${target}`;
    const one = byPair.get(key) ?? { source, target, weight: 0, imports: [], isViolation: false, isCircular: false };
    one.weight += 1;
    one.imports.push(edge);
    one.isViolation ||= edge.isViolation;
    one.isCircular ||= Boolean(edge.isCircular);
    byPair.set(key, one);
  }
  return [...byPair.values()];
}

function marked(edges, cycles) {
  const cycleOf = new Map(cycles.filter(({ deferred }) => !deferred).flatMap((cycle) => cycle.files.map((file) => [file, cycle])));
  const isCircular = ({ source, target }) => source !== target && cycleOf.has(source) && cycleOf.get(source) === cycleOf.get(target);
  return edges.map((edge) => ({ ...edge, isCircular: isCircular(edge) }));
}

/** The layer of most files of a module. */
function layerOf(graph, name) {
  const layers = graph.nodes.filter(({ module, layer }) => module === name && layer).map(({ layer }) => layer);
  const counts = [...Map.groupBy(layers, (layer) => layer)].sort((a, b) => b[1].length - a[1].length);
  return counts[0]?.[0] ?? null;
}

function degrees(edges) {
  const counts = new Map();
  for (const { source, target } of edges) for (const id of [source, target]) counts.set(id, (counts.get(id) ?? 0) + 1);
  return (id) => counts.get(id) ?? 0;
}

/**
 * A layered drawing after Sugiyama: who imports stands above what is imported, and each row is ordered so that its
 * lines cross little. Members of a cycle share a row.
 */

import { componentsOf } from "./components.js";

const GAP = { x: 28, y: 74 };
const SWEEPS = 6;
const WIDEST_ROW = 9;

/**
 * Give every node a place.
 * @param {{id: string, width: number, height: number}[]} nodes
 * @param {{source: string, target: string}[]} edges
 * @returns {Map<string, {x: number, y: number}>} the upper left corners
 */
export function layered(nodes, edges) {
  const links = linksOf(nodes, edges);
  const ranks = ranksOf(nodes, links);
  const rows = rowsOf(nodes, ranks, links);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) arrange(rows, sweep % 2 ? links.targets : links.sources);
  return placed(rows.flatMap(split));
}

function linksOf(nodes, edges) {
  const sources = new Map(nodes.map(({ id }) => [id, []]));
  const targets = new Map(nodes.map(({ id }) => [id, []]));
  for (const { source, target } of edges) {
    if (source === target || !targets.has(source) || !sources.has(target)) continue;
    targets.get(source).push(target);
    sources.get(target).push(source);
  }
  return { sources, targets };
}

/** The longest way down from a node that nobody imports, counted in components. */
function ranksOf(nodes, { targets }) {
  const ids = nodes.map(({ id }) => id);
  const component = componentsOf(ids, targets);
  const rank = new Map();
  // Tarjan numbers components from the bottom up: going down the numbers meets importers before what they import.
  const ordered = [...ids].sort((a, b) => component.get(b) - component.get(a));
  for (const id of ordered) {
    const own = rank.get(component.get(id)) ?? 0;
    rank.set(component.get(id), own);
    for (const target of targets.get(id)) {
      const other = component.get(target);
      if (other !== component.get(id)) rank.set(other, Math.max(rank.get(other) ?? 0, own + 1));
    }
  }
  return new Map(ids.map((id) => [id, rank.get(component.get(id))]));
}

/** Rows from the top; nodes without any edge come last, in a row of their own. */
function rowsOf(nodes, ranks, { sources, targets }) {
  const rows = [];
  const alone = [];
  for (const node of nodes) {
    const isAlone = sources.get(node.id).length + targets.get(node.id).length === 0;
    if (isAlone) alone.push(node);
    else (rows[ranks.get(node.id)] ??= []).push(node);
  }
  return [...rows, alone].filter((row) => row?.length);
}

/** Sort each row by the mean place of its neighbours. */
function arrange(rows, neighbours) {
  const place = new Map();
  const note = (row) => row.forEach(({ id }, index) => place.set(id, index / row.length));
  rows.forEach(note);
  for (const row of rows) {
    const wish = new Map(row.map(({ id }) => [id, mean(neighbours.get(id).map((other) => place.get(other))) ?? place.get(id)]));
    row.sort((a, b) => wish.get(a.id) - wish.get(b.id));
    note(row);
  }
}

function split(row) {
  const parts = Math.ceil(row.length / WIDEST_ROW);
  const size = Math.ceil(row.length / parts);
  return Array.from({ length: parts }, (_, index) => row.slice(index * size, (index + 1) * size));
}

function placed(rows) {
  const places = new Map();
  const widths = rows.map((row) => row.reduce((sum, { width }) => sum + width + GAP.x, -GAP.x));
  const widest = Math.max(0, ...widths);
  let y = 0;
  rows.forEach((row, index) => {
    let x = (widest - widths[index]) / 2;
    for (const { id, width } of row) {
      places.set(id, { x, y });
      x += width + GAP.x;
    }
    y += Math.max(...row.map(({ height }) => height)) + GAP.y;
  });
  return places;
}

function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

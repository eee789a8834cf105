/** The modules as a table: the same as the picture, for the keyboard, for search and for sorting. */

import { h } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { moduleName } from "../../data/words.js";
import { badge } from "../../ui/badge.js";
import { card } from "../../ui/card.js";
import { table } from "../../ui/table.js";

export function moduleTable({ nodes, edges }, page) {
  const rows = nodes.map((node) => ({ ...node, ...countsOf(node, edges) }));
  const column = (title, name) => ({ title, align: "end", cell: (row) => number(row[name]), sort: (row) => row[name] });
  const address = (name) => `${page.path}?module=${encodeURIComponent(name)}`;
  return card(
    { title: "Modules", flush: true },
    table({
      caption: "Modules",
      rows: rows.sort((a, b) => b.violations - a.violations),
      columns: [
        { title: "Module", main: true, cell: ({ name, path }) => h("div", { class: "file-name" }, h("a", { href: address(name) }, moduleName(name)), h("span", { class: "small faint mono" }, path)), sort: ({ name }) => name },
        { title: "Layer", cell: ({ layer }) => layer ?? h("span", { class: "faint" }, "none") },
        column("Files", "files"),
        column("Violations", "violations"),
        column("Imports", "imports"),
        column("Imported by", "importers"),
        { title: "Cycle", cell: ({ isCircular }) => (isCircular ? badge("in a cycle", "warning") : h("span", { class: "faint" }, "no")), sort: ({ isCircular }) => Number(isCircular) },
      ],
    }),
  );
}

function countsOf({ id }, edges) {
  const out = edges.filter(({ source }) => source === id);
  const into = edges.filter(({ target }) => target === id);
  return { imports: out.length, importers: into.length, isCircular: [...out, ...into].some(({ isCircular }) => isCircular) };
}

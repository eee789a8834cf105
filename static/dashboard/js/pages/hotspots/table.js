/** The hotspots as a table that can be searched and sorted. */

import { fill, h } from "../../core/dom.js";
import { count, number } from "../../core/format.js";
import { badge } from "../../ui/badge.js";
import { button } from "../../ui/button.js";
import { card } from "../../ui/card.js";
import { field } from "../../ui/form.js";
import { table } from "../../ui/table.js";
import { filePage } from "./links.js";

const SHOWN_FIRST = 25;

/** All files, the first ones until somebody asks for the rest. */
export function hotspotTable(spots, page) {
  const list = h("div");
  let words = "";
  let most = SHOWN_FIRST;
  const show = () => {
    const found = spots.filter(({ file }) => file.toLowerCase().includes(words));
    const more = found.length > most && h("div", { class: "pager" }, h("span", null, `${most} of ${count(found.length, "file")}`), button("Show all", { size: "s", onClick: showAll }));
    fill(list, tableOf(found.slice(0, most), page), more);
  };
  const showAll = () => {
    most = Infinity;
    show();
  };
  const search = field({ label: "Find a file", name: "q", type: "search", placeholder: "part of its path" });
  search.addEventListener("input", (event) => {
    words = event.target.value.toLowerCase();
    show();
  });
  show();
  return card({ title: "Files by risk", flush: true }, h("div", { class: "finder" }, search), list);
}

function tableOf(spots, page) {
  return table({
    caption: "Files by risk",
    rows: spots,
    columns: [
      { title: "File", main: true, cell: (spot) => nameOf(spot, page), sort: ({ file }) => file },
      { title: "Risk", cell: riskOf, sort: ({ riskScore }) => riskScore },
      numbers("Complexity", "complexity"),
      numbers("Changes in 90 days", "churnCount"),
      numbers("Violations", "violationCount"),
      numbers("Lines", "linesOfCode"),
    ],
  });
}

function nameOf({ file }, page) {
  const parts = file.split("/");
  const name = parts.pop();
  return h("div", { class: "file-name" }, h("a", { href: filePage(page, file) }, name), h("span", { class: "small faint mono" }, parts.join("/")));
}

function riskOf({ riskScore }) {
  const tone = riskScore >= 75 ? "critical" : riskScore >= 60 ? "warning" : "info";
  const bar = h("span", { class: "meter", "aria-hidden": "true" }, h("span", { style: { "--share": `${riskScore}%` } }));
  return h("div", { class: "risk", data: { tone } }, h("b", { class: "number" }, riskScore), bar, riskScore >= 60 && badge("Hotspot", tone));
}

function numbers(title, name) {
  return { title, align: "end", cell: (spot) => number(spot[name]), sort: (spot) => spot[name] };
}

/** The treemap of hotspots: area by lines of code, colour by risk, grouped by folder. */

import { heatLegend, treemap } from "../../charts/treemap.js";
import { h } from "../../core/dom.js";
import { count, number } from "../../core/format.js";
import { navigate } from "../../core/router.js";
import { filePage } from "./links.js";

const HEATS = [[75, 5], [60, 4], [40, 3], [20, 2], [0, 1]];
const LEGEND = [[1, "0–19"], [2, "20–39"], [3, "40–59"], [4, "60–74: hotspot"], [5, "75 and above"]];
const DOMINANT = 0.6;

/** The picture with its legend. */
export function hotspotMap(spots, page) {
  const worst = spots[0];
  const description = `${count(spots.length, "file")} by lines of code. The riskiest is ${worst.file} with a risk of ${worst.riskScore} of 100. The table below lists them all.`;
  const groups = grouped(spots).map(([name, files]) => ({ name, tiles: files.map((spot) => tileOf(spot, page)) }));
  return [
    treemap({ groups, description, onChoose: ({ href }) => navigate(href) }),
    h("div", { class: "row row-between map-foot" }, h("span", { class: "small faint" }, "Area: lines of code"), h("div", { class: "row" }, h("span", { class: "small faint" }, "Risk"), heatLegend(LEGEND))),
  ];
}

function tileOf({ file, linesOfCode, riskScore, complexity, churnCount, violationCount }, page) {
  return {
    name: file.split("/").at(-1),
    size: Math.max(1, linesOfCode),
    heat: HEATS.find(([least]) => riskScore >= least)[1],
    href: filePage(page, file),
    lines: [["Risk", number(riskScore)], ["Complexity", number(complexity)], ["Changes in 90 days", number(churnCount)], ["Violations", number(violationCount)], ["Lines", number(linesOfCode)]],
  };
}

/** By folder, as deep as it takes until no folder holds most of the lines. */
function grouped(spots) {
  for (const depth of [1, 2, 3]) {
    const groups = Map.groupBy(spots, ({ file }) => file.split("/").slice(0, -1).slice(0, depth).join("/") || "/");
    const sizes = [...groups.values()].map(linesOf);
    if (depth === 3 || Math.max(...sizes) < DOMINANT * linesOf(spots)) return [...groups];
  }
  return [];
}

function linesOf(spots) {
  return spots.reduce((sum, { linesOfCode }) => sum + linesOfCode, 0);
}

/** The findings that matter most. */

import { h } from "../../core/dom.js";
import { CATEGORY_NAMES } from "../../data/words.js";
import { badge, dotted } from "../../ui/badge.js";
import { card } from "../../ui/card.js";
import { prose } from "../../ui/prose.js";
import { state } from "../../ui/states.js";

const SHOWN = 6;

/** Critical ones first, taken from each category in turn so that no category hides the others. */
export function topFindings(categories, base) {
  const found = [...inTurn(categories, "critical"), ...inTurn(categories, "warning")].slice(0, SHOWN);
  const more = h("a", { class: "small", href: `${base}/violations` }, "All violations");
  const list = h("ul", { class: "lines" }, found.map((finding) => line(finding, base)));
  return card({ title: "Look at these first", actions: more }, found.length ? list : nothing());
}

function inTurn(categories, severity) {
  const lists = Object.entries(categories).map(([category, { [severity]: list = [] }]) => list.map((finding) => ({ ...finding, category, severity })));
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, index) => lists.map((list) => list[index])).flat().filter(Boolean);
}

function line({ file, line: number, rule, message, category, severity, volume }, base) {
  const href = `${base}/violations?file=${encodeURIComponent(file)}&ruleId=${rule}`;
  return h(
    "li",
    null,
    h(
      "a",
      { class: "line", href },
      h("span", { class: "line-text" }, h("span", { class: "line-message" }, prose(message)), h("span", { class: "small faint clip mono" }, `${file}:${number}`)),
      h("span", { class: "line-marks" }, dotted(CATEGORY_NAMES[category], severity), volume && badge(`${volume} table`)),
    ),
  );
}

function nothing() {
  return state({ icon: "check", tone: "good", title: "Nothing urgent", text: "No critical finding and no warning is open." });
}

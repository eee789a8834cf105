/** What a changed policy would do: the totals now and then, findings that come and go, other verdicts. */

import { h } from "../core/dom.js";
import { count, number } from "../core/format.js";
import { change, severityBadge } from "./badge.js";
import { prose } from "./prose.js";
import { verdictBadge } from "./verdict.js";

const SHOWN = 5;
const FIGURES = [
  ["healthScore", "Health", "up"],
  ["totalViolations", "Violations", "down"],
  ["critical", "Critical", "down"],
  ["warning", "Warning", "down"],
];

/** The answer of a preview, for people. */
export function effect({ current, preview, added, removed, recentPRs }) {
  const others = recentPRs.filter(({ currentResult, previewResult }) => currentResult !== previewResult);
  return h(
    "div",
    { class: "stack" },
    h("dl", { class: "effect" }, FIGURES.map(([name, title, goodWhen]) => figure(title, current[name], preview[name], goodWhen))),
    added.length > 0 && list("Would be found", added),
    removed.length > 0 && list("Would no longer count", removed),
    others.length > 0 && verdicts(others),
    recentPRs.length > 0 && others.length === 0 && h("p", { class: "small soft" }, `The last ${count(recentPRs.length, "verdict")} would stay as they are.`),
  );
}

function figure(title, before, after, goodWhen) {
  const isKnown = before !== null && after !== null;
  return h("div", { class: "figure" }, h("dt", null, title), h("dd", null, isKnown ? number(after) : "–", " ", isKnown && h("small", null, change(after - before, { goodWhen }))));
}

function list(title, findings) {
  const line = ({ severity, message, file, line: at }) => h("li", null, severityBadge(severity), h("span", { class: "two-lines" }, h("span", null, prose(message)), h("span", { class: "small faint mono clip" }, `${file}:${at}`)));
  const left = findings.length - SHOWN;
  return h(
    "section",
    { class: "effect-list" },
    h("h3", null, `${title} (${number(findings.length)})`),
    h("ul", null, findings.slice(0, SHOWN).map(line)),
    left > 0 && h("p", { class: "small soft" }, `and ${number(left)} more`),
  );
}

function verdicts(rows) {
  const line = ({ prNumber, currentResult, previewResult }) => h("li", null, h("span", null, `#${prNumber}`), verdictBadge(currentResult), h("span", { class: "faint" }, "would be"), verdictBadge(previewResult));
  return h("section", { class: "effect-list" }, h("h3", null, "Other verdicts"), h("ul", null, rows.map(line)));
}

/** One violation as a line that opens: what is wrong, where, the code around it, and what can be done. */

import * as api from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { decimal, words } from "../../core/format.js";
import { suggestFix } from "../../data/ai.js";
import { isAtLeast } from "../../data/roles.js";
import { CATEGORY_NAMES } from "../../data/words.js";
import { aiAnswer, aiButton } from "../../ui/ai.js";
import { badge, severityBadge } from "../../ui/badge.js";
import { button } from "../../ui/button.js";
import { codeLines } from "../../ui/code.js";
import { icon } from "../../ui/icons.js";
import { prose } from "../../ui/prose.js";
import { block } from "../../ui/states.js";
import { askForException } from "./exception.js";

const MINUTES_PER_POINT = 10;

/** The line, closed. The code is fetched when it is opened. */
export function finding(violation, page) {
  const body = h("div", { class: "finding-body" });
  const element = h("details", { class: "finding" }, summary(violation), body);
  element.addEventListener("toggle", () => {
    if (element.open && !body.firstChild) fill(body, findingDetail(violation, page));
  });
  return element;
}

/** Everything about one violation, for the opened line and for its own page. */
export function findingDetail(violation, page) {
  const code = h("div", null, block("100%", "11rem"));
  showCode(code, violation, page);
  return [
    h("p", { class: "finding-fix" }, icon("spark", 16), h("span", null, prose(violation.suggestion))),
    code,
    facts(violation, page),
    actions(violation, page),
  ];
}

function summary({ severity, message, file, line, category, debtPoints, gateAction, table, volume }) {
  return h(
    "summary",
    { class: "finding-head" },
    severityBadge(severity),
    h("span", { class: "finding-text" }, h("span", { class: "finding-message" }, prose(message)), h("span", { class: "small faint mono clip" }, `${file}:${line}`)),
    h(
      "span",
      { class: "finding-marks" },
      gateAction === "block" && badge("Blocks merges", "critical"),
      table && badge(`${table} · ${volume ?? "M"}`),
      badge(CATEGORY_NAMES[category]),
      h("span", { class: "small soft number nowrap", title: "Debt points: ten minutes of repair each" }, `${decimal(debtPoints)} pt`),
    ),
    icon("chevron", 16),
  );
}

async function showCode(place, violation, page) {
  try {
    const source = await api.get(`/api/repos/${page.params.repositoryId}/violations/${violation.id}/source`, { signal: page.signal });
    fill(place, codeLines(source));
  } catch (error) {
    fill(place, h("div", { class: "note" }, icon("alert"), h("div", null, error.sentence ?? "The code cannot be shown.")));
  }
}

function facts({ ruleId, file, function: name, confidence, debtPoints, source }, page) {
  const base = `/repos/${page.params.repositoryId}/violations`;
  const entry = (term, value) => h("div", null, h("dt", null, term), h("dd", null, value));
  return h(
    "dl",
    { class: "facts" },
    entry("Rule", h("a", { class: "mono", href: `${base}?ruleId=${encodeURIComponent(ruleId)}` }, ruleId)),
    entry("File", h("a", { class: "mono", href: `${base}?file=${encodeURIComponent(file)}` }, file)),
    name && entry("In", h("span", { class: "mono" }, name)),
    entry("Confidence", words(confidence)),
    entry("Repair", `about ${decimal((debtPoints * MINUTES_PER_POINT) / 60)} h`),
    source === "ai" && entry("Found by", "The language model"),
  );
}

function actions(violation, page) {
  const link = `/repos/${page.params.repositoryId}/violations/${violation.id}`;
  const mayExcept = isAtLeast("admin", page.frame.organization.role);
  const answer = h("div", { class: "ai-place" });
  const row = h(
    "div",
    { class: "row" },
    suggestion(violation, answer, page),
    mayExcept && button("Make an exception", { icon: "gate", onClick: () => void askForException(violation, page) }),
    page.params.violationId ? null : h("a", { class: "button", href: link, "data-kind": "quiet" }, icon("arrow", 16), "Own page"),
    h("span", { class: "small faint" }, "In the code: ", h("code", null, `debt: ignore[${violation.ruleId}] reason`)),
  );
  return [answer, row];
}

function suggestion({ id }, place, page) {
  const onAnswer = async () => {
    const { explanation, patch } = await suggestFix(page.params.repositoryId, id);
    fill(place, aiAnswer({ text: explanation, patch }));
  };
  return aiButton({ operation: "ai_fix_suggestion", label: "Suggest a fix", onAnswer, page });
}

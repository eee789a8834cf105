/** Findings of a verdict: they are not stored violations, so they open to what the verdict knows. */

import { h } from "../../core/dom.js";
import { count, decimal } from "../../core/format.js";
import { CATEGORY_NAMES } from "../../data/words.js";
import { badge, severityBadge } from "../../ui/badge.js";
import { card } from "../../ui/card.js";
import { icon } from "../../ui/icons.js";
import { prose } from "../../ui/prose.js";

/**
 * A card with findings of one kind.
 * @param {{title: string, text: string, findings: object[], total: number, base: string}} options
 */
export function findingCard({ title, text, findings, total, base }) {
  if (total === 0) return card({ title, text });
  const left = total - findings.length;
  return card(
    { title: `${title} (${total})`, text, flush: true },
    h("ul", { class: "findings" }, findings.map((one) => h("li", null, line(one, base)))),
    left > 0 && h("p", { class: "small soft list-foot" }, `${count(left, "more finding")} not listed.`),
  );
}

function line(one, base) {
  const body = h(
    "div",
    { class: "finding-body" },
    h("p", { class: "finding-fix" }, icon("spark", 16), h("span", null, prose(one.suggestion))),
    h("p", { class: "small soft" }, one.function && one.function !== "module" && ["In ", h("code", null, one.function), ". "], "Rule ", h("a", { class: "mono", href: `${base}/violations?ruleId=${encodeURIComponent(one.ruleId)}` }, one.ruleId), `, confidence ${one.confidence}.`),
  );
  return h("details", { class: "finding" }, head(one), body);
}

function head({ severity, message, file, line: number, category, debtPoints, gateAction }) {
  return h(
    "summary",
    { class: "finding-head" },
    severityBadge(severity),
    h("span", { class: "finding-text" }, h("span", { class: "finding-message" }, prose(message)), h("span", { class: "small faint mono clip" }, `${file}:${number}`)),
    h(
      "span",
      { class: "finding-marks" },
      gateAction === "block" && badge("Blocks", "critical"),
      gateAction === "warn" && badge("Warns", "warning"),
      badge(CATEGORY_NAMES[category] ?? category),
      h("span", { class: "small soft number nowrap", title: "Debt points: ten minutes of repair each" }, `${decimal(debtPoints)} pt`),
    ),
    icon("chevron", 16),
  );
}

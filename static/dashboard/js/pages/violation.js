/** One violation on a page of its own, for links in reviews and tickets. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { CATEGORY_NAMES, VIOLATION_STATES } from "../data/words.js";
import { badge, severityBadge } from "../ui/badge.js";
import { card } from "../ui/card.js";
import { prose } from "../ui/prose.js";
import { findingDetail } from "./violations/finding.js";

export const title = ({ ruleId }) => ruleId;

export function load({ params, signal }) {
  return api.get(`/api/repos/${params.repositoryId}/violations/${params.violationId}`, { signal });
}

export function view(violation, page) {
  const { message, file, line, severity, category, status, suppressionReason } = violation;
  const state = VIOLATION_STATES[status]; // none while it is open
  const head = h(
    "div",
    { class: "stack stack-tight" },
    h("div", { class: "row" }, severityBadge(severity), badge(CATEGORY_NAMES[category]), state && badge(state.name, state.tone)),
    h("h2", { class: "finding-message" }, prose(message)),
    h("p", { class: "mono small faint breakable" }, `${file}:${line}`),
    suppressionReason && h("p", { class: "small soft breakable" }, `Does not count: ${suppressionReason}`),
  );
  return [
    h("nav", { class: "crumbs", "aria-label": "Back" }, h("a", { href: `/repos/${page.params.repositoryId}/violations` }, "← All violations")),
    card({}, h("div", { class: "finding-page" }, head, findingDetail(violation, page))),
  ];
}

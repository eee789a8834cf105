/** One pull request: the verdict, why it came out so, and what the change adds and takes away. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { ago, count, time } from "../core/format.js";
import { card, note } from "../ui/card.js";
import { icon } from "../ui/icons.js";
import { prose } from "../ui/prose.js";
import { state } from "../ui/states.js";
import { debtChange, verdictBadge } from "../ui/verdict.js";
import { exceptionCard } from "./pull-request/exceptions.js";
import { findingCard } from "./pull-request/findings.js";
import { gateCard } from "./pull-request/gates.js";
import { metricCard } from "./pull-request/metrics.js";

export const title = ({ prNumber, title: name }) => `#${prNumber} ${name}`;

export function load({ params, signal }) {
  return api.get(`/api/repos/${params.repositoryId}/prs/${encodeURIComponent(params.number)}`, { signal });
}

export function view(one, page) {
  const base = `/repos/${page.params.repositoryId}`;
  return [head(one, base), one.verdict ? judged(one.verdict, base) : card({}, notYet(one))];
}

function head(one, base) {
  const { prNumber, title: name, author, baseBranch, judgedSha, headSha, isOpen, score, gateResult, date } = one;
  const facts = [
    `#${prNumber} by ${author}`,
    `into ${baseBranch}`,
    isOpen ? "open" : "closed",
    date && h("time", { datetime: date, title: time(date) }, `judged ${ago(date)}`),
    h("code", { title: judgedSha || headSha }, (judgedSha || headSha).slice(0, 10)),
  ];
  return h(
    "div",
    { class: "pr-head" },
    h("a", { class: "small", href: `${base}/prs` }, "All pull requests"),
    h("div", { class: "row" }, h("h2", { class: "pr-title" }, name), verdictBadge(gateResult)),
    h("div", { class: "row small soft pr-facts" }, facts.filter(Boolean).map((fact) => h("span", null, fact)), score !== null && h("span", null, "debt ", debtChange(score))),
  );
}

function notYet({ isOpen }) {
  const text = isOpen ? "The analysis of its newest commit is queued or running. It takes a few seconds." : "It was closed before it was judged.";
  return state({ icon: "clock", tone: "accent", title: "No verdict yet", text });
}

function judged(verdict, base) {
  return [
    ...verdict.notes.map((text) => note(verdict.evaluated ? "" : "warning", icon("alert"), prose(text))),
    verdict.evaluated && gateCard(verdict, base),
    verdict.evaluated && metricCard(verdict.metrics),
    findingCard({ title: "Introduced", text: added(verdict), findings: verdict.introduced, total: verdict.introducedTotal, base }),
    verdict.resolvedTotal > 0 &&
      findingCard({ title: "Resolved", text: "These were there before and are gone.", findings: verdict.resolved, total: verdict.resolvedTotal, base }),
    verdict.exceptions.length > 0 && exceptionCard(verdict.exceptions),
  ];
}

function added({ introducedTotal }) {
  return introducedTotal ? `${count(introducedTotal, "finding")} that the base branch does not have.` : "The change adds nothing that the rules object to.";
}

/** One pull request: the verdict, why it came out so, and what the change adds and takes away. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { ago, count, time } from "../core/format.js";
import { card, note } from "../ui/card.js";
import { icon } from "../ui/icons.js";
import { prose } from "../ui/prose.js";
import { state } from "../ui/states.js";
import { debtChange, judgementBadge } from "../ui/verdict.js";
import { exceptionCard } from "./pull-request/exceptions.js";
import { findingCard } from "./pull-request/findings.js";
import { gateCard } from "./pull-request/gates.js";
import { metricCard } from "./pull-request/metrics.js";

const BETWEEN_LOOKS_MS = 2000;
const LOOKS = 30;

export const title = ({ prNumber, title: name }) => `#${prNumber} ${name}`;

export function load({ params, signal }) {
  return api.get(`/api/repos/${params.repositoryId}/prs/${encodeURIComponent(params.number)}`, { signal });
}

export function view(one, page) {
  const base = `/repos/${page.params.repositoryId}`;
  if (isAwaited(one)) watch(one, page).catch(() => {}); // the page was left, or the next visit tells
  return [head(one, base), one.verdict ? [isNewest(one) ? null : earlier(one), judged(one.verdict, base)] : card({}, notYet(one))];
}

/** Whether the verdict is the one on the request as it is now. */
const isNewest = ({ headSha, judgedSha }) => headSha === judgedSha;

const isAwaited = (one) => one.isOpen && !one.isDraft && !isNewest(one);

/** Look for the verdict on the newest state for a minute, and show it when it is there. */
async function watch({ judgedSha }, page) {
  for (let look = 0; look < LOOKS; look += 1) {
    await api.pause(BETWEEN_LOOKS_MS, page.signal);
    const found = await load(page);
    if (found.judgedSha === judgedSha && !isNewest(found)) continue;
    await page.reload();
    return;
  }
}

function earlier(one) {
  const { headSha, judgedSha, baseBranch } = one;
  const what = judgedSha ? `an earlier commit, ${judgedSha.slice(0, 10)}` : "this request into another branch";
  const newest = judgedSha ? `The newest commit, ${headSha.slice(0, 10)},` : `The change into ${baseBranch}`;
  const wait = isAwaited(one) ? "the analysis is queued or running" : one.isDraft ? "it is judged when it is ready for review" : "the request was closed before it was judged";
  return note("accent", icon("clock"), `This is the verdict on ${what}. ${newest} has none yet: ${wait}.`);
}

function head(one, base) {
  const { prNumber, title: name, author, baseBranch, judgedSha, headSha, isOpen, isDraft, score, date } = one;
  const facts = [
    author ? `#${prNumber} by ${author}` : `#${prNumber}`,
    `into ${baseBranch}`,
    isOpen ? (isDraft ? "draft" : "open") : "closed",
    date && h("time", { datetime: date, title: time(date) }, `judged ${ago(date)}`),
    h("code", { title: judgedSha || headSha }, (judgedSha || headSha).slice(0, 10)),
  ];
  return h(
    "div",
    { class: "pr-head" },
    h("a", { class: "small", href: `${base}/prs` }, "All pull requests"),
    h("div", { class: "row" }, h("h2", { class: "pr-title" }, name), judgementBadge(one)),
    h("div", { class: "row small soft pr-facts" }, facts.filter(Boolean).map((fact) => h("span", null, fact)), score !== null && h("span", null, "debt ", debtChange(score))),
  );
}

function notYet({ isOpen, isDraft }) {
  const waiting = isDraft ? "It is a draft. It is judged when it is ready for review." : "The analysis of its newest commit is queued or running. It takes a few seconds.";
  const text = isOpen ? waiting : "It was closed before it was judged.";
  return state({ icon: "clock", tone: "accent", title: "No verdict yet", text });
}

function judged(verdict, base) {
  return [
    ...verdict.notes.map((text) => note(verdict.evaluated ? "" : "warning", icon("alert"), prose(text))),
    verdict.evaluated && gateCard(verdict, base),
    verdict.evaluated && metricCard(verdict.metrics),
    verdict.evaluated && findingCard({ title: "Introduced", text: added(verdict), findings: verdict.introduced, total: verdict.introducedTotal, base }),
    verdict.resolvedTotal > 0 &&
      findingCard({ title: "Resolved", text: "These were there before and are gone.", findings: verdict.resolved, total: verdict.resolvedTotal, base }),
    verdict.exceptions.length > 0 && exceptionCard(verdict.exceptions),
  ];
}

function added({ introducedTotal }) {
  return introducedTotal ? `${count(introducedTotal, "finding")} that the base branch does not have.` : "The change adds nothing that the rules object to.";
}

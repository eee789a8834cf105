/** Pull requests with what the gate said of them. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { ago, count, time } from "../core/format.js";
import { repository } from "../data/catalog.js";
import { pageOf } from "../data/pages.js";
import { card } from "../ui/card.js";
import { planLacks } from "../ui/plan.js";
import { state } from "../ui/states.js";
import { pager, table } from "../ui/table.js";
import { debtChange, judgementBadge } from "../ui/verdict.js";

const PER_PAGE = 20;

export const title = "Pull requests";

export async function load(page) {
  const { repositoryId } = page.params;
  const { organizationId } = await repository(repositoryId);
  const [list, gate] = await Promise.all([
    pageOf(page, `/api/repos/${repositoryId}/prs`, { perPage: PER_PAGE }),
    api.get(`/plans/org/${organizationId}/can-use/prGate`, { signal: page.signal }),
  ]);
  return { list, isInPlan: gate.allowed };
}

export function view({ list, isInPlan }, page) {
  const lacks = !isInPlan && planLacks("The present plan does not judge pull requests.", page.frame.organization);
  if (list.total === 0) return [lacks, card({}, nothingYet(isInPlan, page))];
  const blocked = list.data.filter(({ gateResult }) => gateResult === "fail").length;
  const text = `${count(list.total, "pull request")} judged; ${blocked} of these ${list.data.length} ${blocked === 1 ? "was" : "were"} blocked`;
  return [
    lacks,
    card({ title: "Pull requests", text, flush: true }, listOf(list.data, page), pager(list, (number) => `${page.path}?page=${number}`, "pull requests")),
  ];
}

function listOf(rows, page) {
  return table({
    caption: "Pull requests and their verdicts",
    rows,
    columns: [
      { title: "Pull request", main: true, cell: (one) => nameOf(one, page) },
      { title: "Verdict", cell: judgementBadge },
      { title: "Findings", cell: findingsOf },
      { title: "Debt", align: "end", cell: ({ score }) => debtChange(score) },
      { title: "Judged", cell: ({ date }) => h("time", { class: "soft", datetime: date, title: time(date) }, ago(date)) },
    ],
  });
}

function nameOf({ prNumber, title: name, author }, page) {
  return h(
    "div",
    { class: "two-lines pr-name" },
    h("a", { class: "strong", href: `${page.path}/${prNumber}` }, name),
    h("span", { class: "small faint" }, author ? `#${prNumber} by ${author}` : `#${prNumber}`),
  );
}

function findingsOf({ blockingCount, warningCount, score }) {
  if (score === null) return h("span", { class: "faint" }, "–");
  if (!blockingCount && !warningCount) return h("span", { class: "faint" }, "Nothing new");
  return h("span", { class: "soft" }, [blockingCount && `${blockingCount} blocking`, warningCount && count(warningCount, "warning")].filter(Boolean).join(", "));
}

function nothingYet(isInPlan, page) {
  const { platform, fullName } = page.frame.repository;
  const isHosted = platform !== "git";
  const text = isHosted
    ? "Once the code host tells of a pull request, it is judged by the policy, and the verdict goes onto the commit and into one comment."
    : `${fullName} is a plain git repository, which has no pull requests. Judge a change on the command line instead.`;
  const command = !isHosted && h("code", { class: "command" }, "manage.py scan . --base main --gate");
  const policy = h("a", { class: "button", href: `/repos/${page.params.repositoryId}/policy` }, "See what the gate asks for");
  return state({ icon: "branch", tone: "accent", title: isInPlan ? "No pull requests yet" : "No pull requests were judged", text: [text, command], actions: [policy] });
}

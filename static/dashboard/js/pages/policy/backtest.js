/** What a policy would have said of the pull requests that were merged lately. */

import * as api from "../../core/api.js";
import { h } from "../../core/dom.js";
import { count, date } from "../../core/format.js";
import { condition, metricName } from "../../data/metrics.js";
import { button } from "../../ui/button.js";
import { card } from "../../ui/card.js";
import { openDialog } from "../../ui/dialog.js";
import { state } from "../../ui/states.js";
import { debtChange, verdictBadge } from "../../ui/verdict.js";

const MERGED = 50;

/** A card with the button that asks; `draft()` gives the policy as it stands in the form. */
export function backtestButton(repositoryId, draft) {
  const ask = async () => show(await api.post(`/api/repos/${repositoryId}/policy/backtest`, { policy: draft(), limit: MERGED }));
  const text = `How this policy would have judged the last ${MERGED} merged pull requests.`;
  return card({ title: "Back-test", text }, button("Run the back-test", { icon: "history", onClick: ask }));
}

function show(outcome) {
  const { evaluated, failed, warned, notEvaluated, pullRequests } = outcome;
  const text = `${count(evaluated, "merged pull request")}: ${failed} would have been blocked, ${warned} warned of.${notEvaluated ? ` ${notEvaluated} more could not be judged in the time; run it again to go on.` : ""}`;
  void openDialog({
    title: "Back-test",
    text,
    content: (close) => h("div", { class: "stack" }, pullRequests.length ? list(pullRequests) : nothing(), h("div", { class: "form-actions" }, button("Close", { onClick: () => close() }))),
  });
}

function nothing() {
  return state({ icon: "branch", title: "Nothing to judge", text: "The history has no merged pull requests.", level: "h3" });
}

function list(pullRequests) {
  const grave = [...pullRequests].sort((one, other) => rank(one) - rank(other));
  return h("ul", { class: "backtest", tabindex: "0", "aria-label": "Merged pull requests, the blocked ones first" }, grave.map(line));
}

const rank = ({ result, warningCount }) => (result === "fail" ? 0 : warningCount ? 1 : 2);

function line({ prNumber, title, mergedAt, result, score, gates }) {
  const reasons = gates.map((gate) => h("li", { class: "small soft" }, `${metricName(gate.metric)} ${gate.actual}, ${gate.action === "block" ? "blocks" : "warns"} ${condition(gate)}`));
  return h(
    "li",
    null,
    h("div", { class: "row row-between" }, h("span", { class: "backtest-name" }, prNumber ? `#${prNumber} ` : "", title.replace(` (#${prNumber})`, "")), verdictBadge(result)),
    h("div", { class: "row small faint" }, date(mergedAt), h("span", null, "debt ", debtChange(score))),
    reasons.length > 0 && h("ul", null, reasons),
  );
}

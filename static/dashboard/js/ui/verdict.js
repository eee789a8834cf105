import { h } from "../core/dom.js";
import { decimal } from "../core/format.js";
import { badge, dotted } from "./badge.js";

/** What the gate said: passed, blocked, or nothing yet. */
export function verdictBadge(result) {
  if (!result) return badge("Not judged yet");
  return result === "fail" ? dotted("Blocked", "critical") : dotted("Passed", "good");
}

/** The same of a pull request as the API lists it: one without a score passed because nothing was evaluated. */
export function judgementBadge({ gateResult, score }) {
  return gateResult && score === null ? badge("Not evaluated") : verdictBadge(gateResult);
}

/** The debt score of a change with its sign, coloured by whether debt grew or was paid back. */
export function debtChange(score) {
  if (score === null || score === undefined) return h("span", { class: "faint" }, "–");
  if (score === 0) return h("span", { class: "soft number" }, "0");
  const tone = score > 0 ? "critical" : "good";
  return h("span", { class: "change", data: { tone }, title: score > 0 ? "Debt grows" : "Debt is paid back" }, `${score > 0 ? "+" : "−"}${decimal(Math.abs(score))}`);
}

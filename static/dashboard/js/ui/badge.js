import { h } from "../core/dom.js";
import { decimal, words } from "../core/format.js";
import { healthOf, RISKS, RUN_STATES } from "../data/words.js";
import { icon } from "./icons.js";

/** A small label; tone "critical", "warning", "info", "good", "accent" or none. */
export function badge(text, tone = "") {
  return h("span", { class: "badge", data: { tone } }, text);
}

/** A label with a dot of its tone before it. */
export function dotted(text, tone = "") {
  return h("span", { class: "badge", data: { tone } }, h("span", { class: "dot" }), text);
}

/** critical, warning or info. */
export const severityBadge = (severity) => dotted(words(severity), severity);

/** The state of a run. */
export const runBadge = (status) => dotted(RUN_STATES[status]?.name ?? words(status), RUN_STATES[status]?.tone);

/** The production risk of a repository; null before the first scan. */
export function riskBadge(risk) {
  return risk ? dotted(RISKS[risk].name, RISKS[risk].tone) : badge("Not scanned");
}

/** A health score with its word. */
export function healthBadge(score) {
  const { name, tone } = healthOf(score);
  return score === null ? badge(name) : dotted(`${score} ${name}`, tone);
}

/**
 * How a number moved, with an arrow, coloured by whether that is good.
 * @param {number} difference
 * @param {{goodWhen: "up"|"down", unit?: string}} options
 */
export function change(difference, { goodWhen, unit = "" }) {
  if (!difference) return h("span", { class: "change faint" }, "no change");
  const direction = difference > 0 ? "up" : "down";
  const tone = direction === goodWhen ? "good" : "critical";
  const spokenSign = difference > 0 ? "+" : "−";
  return h("span", { class: "change", data: { tone } }, icon(direction, 13), `${spokenSign}${decimal(Math.abs(difference))}${unit}`);
}

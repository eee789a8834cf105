/** Which gates of the policy fired, on which figures. */

import { h } from "../../core/dom.js";
import { decimal } from "../../core/format.js";
import { condition, metricName } from "../../data/metrics.js";
import { badge } from "../../ui/badge.js";
import { card } from "../../ui/card.js";
import { icon } from "../../ui/icons.js";

/** The reasons of a verdict; that nothing fired is one too. */
export function gateCard({ gates }, base) {
  const policy = h("a", { class: "small", href: `${base}/policy` }, "Policy");
  if (gates.length === 0) {
    const said = h("p", { class: "row" }, h("span", { class: "gate-mark", data: { tone: "good" } }, icon("check", 16)), "No gate of the policy fired.");
    return card({ title: "Why", actions: policy }, said);
  }
  return card({ title: "Why", actions: policy }, h("ul", { class: "gates" }, gates.map(line)));
}

function line(gate) {
  const isBlocking = gate.action === "block";
  return h(
    "li",
    { class: "gate" },
    h("span", { class: "gate-mark", data: { tone: isBlocking ? "critical" : "warning" } }, icon(isBlocking ? "close" : "alert", 16)),
    h("span", { class: "gate-text" }, h("strong", null, metricName(gate.metric)), h("span", { class: "soft" }, ` ${isBlocking ? "blocks" : "warns"} when ${condition(gate)}`)),
    h("span", { class: "gate-actual number" }, decimal(gate.actual)),
    isBlocking ? badge("Blocks", "critical") : badge("Warns", "warning"),
  );
}

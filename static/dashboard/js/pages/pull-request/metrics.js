/** What was measured of a change: the figures that say something first, the others on demand. */

import { h } from "../../core/dom.js";
import { decimal } from "../../core/format.js";
import { METRICS, metricName } from "../../data/metrics.js";
import { card } from "../../ui/card.js";

const FIRST = ["debt_delta_score", "new_critical", "new_warning", "health_delta", "complexity_delta", "changed_lines"];
const GOOD_WHEN_DOWN = new Set(["debt_delta_score", "new_critical", "new_warning", "complexity_delta"]);

/** A card of figures. */
export function metricCard(metrics) {
  const first = FIRST.filter((name) => name in metrics);
  const rest = Object.keys(METRICS).filter((name) => name in metrics && !first.includes(name));
  return card(
    { title: "Measured" },
    h("dl", { class: "figures" }, first.map((name) => figure(name, metrics[name]))),
    rest.length > 0 && h("details", { class: "more" }, h("summary", null, `${rest.length} more figures`), h("dl", { class: "figure-list" }, rest.map((name) => row(name, metrics[name])))),
  );
}

function figure(name, value) {
  return h("div", { class: "figure", data: { tone: toneOf(name, value) } }, h("dt", null, metricName(name)), h("dd", null, signed(name, value)));
}

function row(name, value) {
  return h("div", null, h("dt", null, metricName(name)), h("dd", { class: "number" }, decimal(value)));
}

function signed(name, value) {
  const isChange = name.endsWith("_delta") || name === "debt_delta_score";
  return isChange && value > 0 ? `+${decimal(value)}` : decimal(value).replace("-", "−");
}

function toneOf(name, value) {
  if (!value || name === "changed_lines") return "";
  const isGood = GOOD_WHEN_DOWN.has(name) ? value < 0 : value > 0;
  return isGood ? "good" : "critical";
}

/** Parts of a policy, to read. */

import { h } from "../core/dom.js";
import { condition, metricName } from "../data/metrics.js";
import { badge } from "./badge.js";

/** Layers with their globs, outermost first. */
export function layerList(layers) {
  if (layers.length === 0) return h("p", { class: "soft" }, "None: every file may use every other one.");
  const line = ({ name, path }, index) => h("li", null, h("span", { class: "layer-number number faint" }, index + 1), h("strong", null, name), h("code", { class: "soft" }, path));
  return h("ol", { class: "layers" }, layers.map(line));
}

/** Gates of one action, "block" or "warn". */
export function gateList(gates, action) {
  const mark = action === "block" ? badge("Blocks", "critical") : badge("Warns", "warning");
  return h("ul", { class: "gate-list" }, gates.map((gate) => h("li", null, mark.cloneNode(true), h("span", null, metricName(gate.metric), h("span", { class: "soft" }, ` ${condition(gate)}`)))));
}

/** The parts of a policy as parts of a form. Each changes the draft in place and tells of it. */

import { h } from "../../core/dom.js";
import { METRICS, OPERATORS } from "../../data/metrics.js";
import { card } from "../../ui/card.js";
import { cell, choiceCell, rows } from "./rows.js";

const STACK = [["framework", "Framework"], ["orm", "ORM"], ["language", "Language"], ["runtime", "Runtime"]];
const SIZES = [["S", "S, under 10 thousand rows"], ["M", "M, up to a million"], ["XL", "XL, a million and more"], ["XXL", "XXL, 50 million and more"]];
const DEFAULT_EXCEPTION_DAYS = 90;

/** All sections, gates first: they decide about merges. */
export function sections(draft, onChange) {
  return [gates(draft, onChange), layers(draft, onChange), exceptions(draft, onChange), volumes(draft, onChange), stack(draft, onChange)];
}

function gates({ gates: both }, onChange) {
  both.block_merge ??= [];
  both.warn ??= [];
  return card(
    { title: "Gates", text: "A gate fires when its condition holds for a pull request. A finding that stops a merge says so in the comment.", level: "h3" },
    h("div", { class: "stack" }, gateList("Stop a merge when", both.block_merge, "gates.block_merge", onChange), gateList("Only warn when", both.warn, "gates.warn", onChange)),
  );
}

function gateList(heading, entries, path, onChange) {
  const row = (gate, index) => [
    choiceCell("Metric", gate, "metric", { path: `${path}[${index}].metric`, onChange, options: metricOptions() }),
    choiceCell("Is", gate, "operator", { path: `${path}[${index}].operator`, onChange, options: OPERATORS.map((sign) => [sign, sign]) }),
    cell("Value", gate, "value", { path: `${path}[${index}].value`, onChange, type: "number", step: "any" }),
  ];
  const fresh = () => ({ metric: "new_critical", operator: ">", value: 0 });
  return h("fieldset", null, h("legend", null, heading), rows(entries, { row, fresh, add: "Add a gate", noun: "gate", look: "policy-gate", onChange }));
}

function metricOptions() {
  const groups = new Map();
  for (const [metric, [name, group]] of Object.entries(METRICS)) groups.set(group, [...(groups.get(group) ?? []), [metric, name]]);
  return [...groups];
}

function layers(draft, onChange) {
  const row = (layer, index) => [
    cell("Name", layer, "name", { path: `layers[${index}].name`, onChange }),
    cell("Files", layer, "path", { path: `layers[${index}].path`, onChange, class: "input mono", spellcheck: "false", placeholder: "app/views/**" }),
  ];
  return card(
    { title: "Layers", text: "From the outermost to the innermost. An import from a layer to one further out is a violation.", level: "h3" },
    h(
      "div",
      { class: "stack" },
      cell("Architecture", draft, "architecture", { path: "architecture", onChange, placeholder: "layered, hexagonal, or a word of your own" }),
      rows(draft.layers, { row, fresh: () => ({ name: "", path: "" }), add: "Add a layer", noun: "layer", isOrdered: true, look: "policy-layer", onChange }),
    ),
  );
}

function exceptions(draft, onChange) {
  const row = (one, index) => [
    cell("Rule", one, "rule", { path: `exceptions[${index}].rule`, onChange, class: "input mono", spellcheck: "false", placeholder: "risk-http-no-timeout" }),
    cell("Files", one, "file", { path: `exceptions[${index}].file`, onChange, class: "input mono", spellcheck: "false", placeholder: "legacy/**" }),
    cell("Until", one, "expires", { path: `exceptions[${index}].expires`, onChange, type: "date" }),
    cell("Reason", one, "reason", { path: `exceptions[${index}].reason`, onChange, maxlength: 500, placeholder: "Shown in pull request comments" }),
  ];
  const fresh = () => ({ rule: "", file: "", expires: inDays(DEFAULT_EXCEPTION_DAYS), reason: "" });
  return card(
    { title: "Exceptions", text: "What the team lives with for now. On the day after its last one an exception is over, and its findings open again.", level: "h3" },
    rows(draft.exceptions, { row, fresh, add: "Add an exception", noun: "exception", look: "policy-exception", onChange }),
  );
}

function volumes(draft, onChange) {
  const entries = Object.entries(draft.data_volumes).map(([table, size]) => ({ table, size }));
  const store = () => {
    draft.data_volumes = Object.fromEntries(entries.map(({ table, size }) => [table, size]));
    onChange();
  };
  const row = (one) => [
    cell("Table or model", one, "table", { path: `data_volumes.${one.table}`, onChange: store, class: "input mono", spellcheck: "false", placeholder: "orders" }),
    choiceCell("Size", one, "size", { path: `data_volumes.${one.table}.size`, onChange: store, options: SIZES }),
  ];
  return card(
    { title: "Table sizes", text: "A query without a limit on a large table weighs more. A table that is not named counts as M.", level: "h3" },
    rows(entries, { row, fresh: () => ({ table: "", size: "XL" }), add: "Add a table", noun: "table", look: "policy-volume", onChange: store }),
  );
}

function stack(draft, onChange) {
  const inputs = STACK.map(([name, label]) => cell(label, draft.stack, name, { path: `stack.${name}`, onChange, spellcheck: "false", placeholder: "detected" }));
  return card({ title: "Stack", text: "Only needed where detection from manifests and imports is in doubt.", level: "h3" }, h("div", { class: "policy-stack" }, inputs));
}

function inDays(days) {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

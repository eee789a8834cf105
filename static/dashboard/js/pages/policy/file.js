/** The draft as the file `.techdebt.yml`, to copy into the repository. */

import { h } from "../../core/dom.js";
import { button } from "../../ui/button.js";
import { toast } from "../../ui/toast.js";

const PLAIN = /^[A-Za-z_/][\w./-]*$/;

/** A part that opens to the text of the file. */
export function asFile(policy) {
  const text = yamlOf(policy);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    toast("Copied", "good");
  };
  return h(
    "details",
    { class: "card policy-file" },
    h("summary", null, "As the file ", h("code", null, ".techdebt.yml")),
    h("pre", { class: "code", tabindex: "0" }, text),
    button("Copy", { size: "s", icon: "copy", onClick: copy }),
  );
}

/** YAML of a policy in the writable shape; empty parts are left out. */
export function yamlOf({ stack, architecture, layers, gates, exceptions, data_volumes: volumes }) {
  const given = Object.entries(stack).filter(([, value]) => value);
  return [
    given.length && ["stack:", ...given.map(([name, value]) => `  ${name}: ${scalar(value)}`)],
    architecture && `architecture: ${scalar(architecture)}`,
    layers.length && ["layers:", ...layers.map((one) => `  - ${inline(one)}`)],
    ["gates:", ...list("block_merge", gates.block_merge), ...list("warn", gates.warn)],
    exceptions.length && ["exceptions:", ...exceptions.flatMap(block)],
    Object.keys(volumes).length && ["data_volumes:", ...Object.entries(volumes).map(([table, size]) => `  ${scalar(table)}: ${size}`)],
  ]
    .flat()
    .filter(Boolean)
    .join("\n");
}

function list(name, gates = []) {
  return gates.length ? [`  ${name}:`, ...gates.map((gate) => `    - ${inline(gate)}`)] : [`  ${name}: []`];
}

function inline(entry) {
  return `{${Object.entries(entry).map(([name, value]) => `${name}: ${scalar(value)}`).join(", ")}}`;
}

function block(entry) {
  return Object.entries(entry).map(([name, value], index) => `${index ? "    " : "  - "}${name}: ${name === "expires" ? value : scalar(value)}`);
}

function scalar(value) {
  return typeof value === "number" || PLAIN.test(value) ? String(value) : JSON.stringify(value ?? "");
}

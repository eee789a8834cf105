/** Lists in the editor: rows of inputs that are added, moved and removed. An input's name is its path in the policy. */

import { fill, freshId, h } from "../../core/dom.js";
import { button } from "../../ui/button.js";
import { icon } from "../../ui/icons.js";

/**
 * An editable list.
 * @param {object[]} entries changed in place
 * @param {{row: (entry, index: number) => Node[], fresh: () => object, add: string, noun: string, isOrdered?: boolean, look: string, onChange: () => void}} options
 */
export function rows(entries, { row, fresh, add, noun, isOrdered, look, onChange }) {
  const list = h("div", { class: "policy-rows" });
  const adding = button(add, { size: "s", icon: "plus", onClick: () => append() });
  const element = h("div", { class: "stack stack-tight" }, list, h("div", null, adding));

  function draw() {
    fill(list, entries.map((entry, index) => h("div", { class: `policy-row ${look}` }, row(entry, index), acts(index))));
  }

  function append() {
    entries.push(fresh());
    after();
    list.lastElementChild.querySelector("input, select")?.focus();
  }

  function acts(index) {
    const move = (by, name, label) => iconButton(name, `${label} ${noun} ${index + 1}`, () => swap(index, index + by, label));
    return h(
      "div",
      { class: "policy-acts" },
      isOrdered && index > 0 && move(-1, "up", "Move up"),
      isOrdered && index < entries.length - 1 && move(1, "down", "Move down"),
      iconButton("close", `Remove ${noun} ${index + 1}`, () => remove(index)),
    );
  }

  function swap(one, other, label) {
    [entries[one], entries[other]] = [entries[other], entries[one]];
    after();
    (buttonOf(other, label) ?? buttonOf(other, "Move")).focus();
  }

  function remove(index) {
    entries.splice(index, 1);
    after();
    (buttonOf(Math.min(index, entries.length - 1), "Remove") ?? adding).focus();
  }

  /** The keyboard goes on at the row that it was about: each change draws all rows anew. */
  function buttonOf(index, label) {
    return list.children[index]?.querySelector(`.policy-acts [aria-label^="${label}"]`);
  }

  function after() {
    draw();
    onChange();
  }

  draw();
  return element;
}

/** A text, number or date of an entry. */
export function cell(label, entry, key, { path, onChange, type = "text", ...attributes }) {
  const read = (input) => (type === "number" ? numberOf(input.value) : input.value);
  return labelled(label, (ids) =>
    h("input", { class: "input", type, name: path, value: entry[key] ?? "", ...ids, ...attributes, on: { input: ({ target }) => { entry[key] = read(target); onChange(); } } }),
  );
}

/** One of some values of an entry; `options` are `[value, text]` pairs, or groups `[label, pairs]`. */
export function choiceCell(label, entry, key, { path, onChange, options }) {
  const option = ([value, text]) => h("option", { value, selected: value === entry[key] }, text);
  const entries = options.map((one) => (Array.isArray(one[1]) ? h("optgroup", { label: one[0] }, one[1].map(option)) : option(one)));
  return labelled(label, (ids) =>
    h("select", { class: "input", name: path, ...ids, on: { change: ({ target }) => { entry[key] = target.value; onChange(); } } }, entries),
  );
}

function labelled(label, control) {
  const id = freshId("cell");
  return h("div", { class: "field cell" }, h("label", { for: id }, label), control({ id, "aria-describedby": `${id}-error` }), h("div", { class: "field-error", id: `${id}-error` }));
}

function numberOf(text) {
  return text.trim() === "" ? null : Number(text);
}

function iconButton(name, label, onClick) {
  return h("button", { class: "button icon-button", type: "button", "data-kind": "quiet", "data-size": "s", "aria-label": label, title: label, on: { click: onClick } }, icon(name, 16));
}

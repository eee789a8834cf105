import { h } from "../core/dom.js";

/**
 * A surface with a heading.
 * @param {{title?: string, text?: string|Node, actions?: Node|Node[], flush?: boolean, level?: string}} head `flush`: no
 *   padding, for tables and lists that reach the edges
 */
export function card({ title, text, actions, flush, level = "h2", ...attributes } = {}, ...children) {
  const words = h("div", null, title && h(level, null, title), text && h("p", null, text));
  const head = (title || actions) && h("div", { class: "card-head" }, words, actions && h("div", { class: "row" }, actions));
  return h("section", { class: flush ? "card card-flush" : "card", ...attributes }, head, children);
}

/** The head of a page: its only h1, a sentence, and what can be done here. */
export function pageHead({ title, text, actions = [] }) {
  return h(
    "header",
    { class: "page-head" },
    h("div", { class: "page-head-text" }, h("h1", null, title), text && h("p", null, text)),
    actions.length > 0 && h("div", { class: "page-actions" }, actions),
  );
}

/** A number with its name, a unit, and a note that says what it means. */
export function stat({ label, value, unit, note }) {
  return h(
    "div",
    { class: "stat" },
    h("div", { class: "stat-label" }, label),
    h("div", { class: "stat-value" }, value, unit && h("small", null, ` ${unit}`)),
    note && h("div", { class: "stat-note" }, note),
  );
}

/** Boxes beside each other, at least `least` wide, below each other where there is no room. */
export function grid(least, ...children) {
  return h("div", { class: "grid", style: { "--least": least } }, children);
}

/** A framed remark inside a page; tone "warning", "critical", "good", "accent" or none. */
export function note(tone, mark, ...children) {
  return h("div", { class: "note", data: { tone } }, mark, h("div", null, children));
}

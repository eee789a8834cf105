import { h } from "../core/dom.js";

/** A sentence of the API whose `names in backquotes` become code. */
export function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? h("code", null, part) : part));
}

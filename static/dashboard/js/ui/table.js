import { h, spoken } from "../core/dom.js";
import { number } from "../core/format.js";
import { icon } from "./icons.js";

/**
 * A table.
 * @param {{caption: string, columns: Column[], rows: any[]}} options `caption` is spoken only
 *
 * @typedef {object} Column
 * @property {string} title empty for a column of actions
 * @property {(row) => any} cell
 * @property {"end"} [align] for numbers
 * @property {(row) => string|number} [sort] the value to sort by; without it the column cannot be sorted
 * @property {boolean} [main] what the row is about: its head on narrow screens
 */
export function table({ caption, columns, rows }) {
  const body = h("tbody");
  const order = { column: -1, falling: true };
  const heads = columns.map((column, index) => headOf(column, () => sortBy(index)));

  function sortBy(index) {
    order.falling = order.column === index ? !order.falling : true;
    order.column = index;
    heads.forEach((head, at) => head.setAttribute("aria-sort", at !== index ? "none" : order.falling ? "descending" : "ascending"));
    show(sorted(rows, columns[index].sort, order.falling));
  }

  function show(shown) {
    body.replaceChildren(...shown.map((row) => h("tr", null, columns.map((column) => cellOf(column, row)))));
  }

  show(rows);
  const head = h("thead", null, h("tr", null, heads));
  const wrap = { class: "table-wrap", tabindex: "0", role: "region", "aria-label": caption }; // scrolls sideways
  return h("div", wrap, h("table", { class: "table" }, h("caption", { class: "only-spoken" }, caption), head, body));
}

/**
 * The foot of a list with pages: which rows these are, and the way to the others.
 * @param {{page: number, perPage: number, total: number, totalPages: number}} list an answer of the API
 * @param {(page: number) => string} addressOf
 * @param {string} noun in the plural
 */
export function pager({ page, perPage, total, totalPages }, addressOf, noun) {
  const first = (page - 1) * perPage + 1;
  const last = Math.min(total, page * perPage);
  const step = (label, to, isOpen) =>
    isOpen ? h("a", { class: "button", data: { size: "s" }, href: addressOf(to) }, label) : null;
  return h(
    "nav",
    { class: "pager", "aria-label": "Pages" },
    h("span", { class: "number" }, total ? `${number(first)}–${number(last)} of ${number(total)} ${noun}` : `No ${noun}`),
    h("span", { class: "row" }, step("Previous", page - 1, page > 1), step("Next", page + 1, page < totalPages)),
  );
}

function headOf({ title, align, sort }, onSort) {
  const label = sort
    ? h("button", { class: "table-sort", type: "button", on: { click: onSort } }, title, icon("chevron", 12))
    : title || spoken("Actions");
  return h("th", { scope: "col", data: { align }, "aria-sort": sort ? "none" : null }, label);
}

function cellOf({ title, cell, align, main }, row) {
  return h("td", { data: { align, title, main } }, cell(row));
}

function sorted(rows, value, falling) {
  const sign = falling ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(value(a), value(b)));
}

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b) : (a ?? -Infinity) - (b ?? -Infinity);
}

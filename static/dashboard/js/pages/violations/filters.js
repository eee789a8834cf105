/** The filters of the list of violations. */

import * as api from "../../core/api.js";
import { h } from "../../core/dom.js";
import { words } from "../../core/format.js";
import { CATEGORIES, CATEGORY_NAMES, SEVERITIES, moduleName } from "../../data/words.js";
import { select } from "../../ui/form.js";
import { icon } from "../../ui/icons.js";
import { menu, menuItem } from "../../ui/menu.js";
import { whileBusy } from "../../ui/button.js";

/** What the address and the API call them. */
export const FILTERS = ["category", "severity", "module", "file", "ruleId"];

const CHIPS = { module: "Module", file: "File", ruleId: "Rule" };

/** Choices for category and severity, the other filters as labels that can be taken away, and the downloads. */
export function filterBar(page, text) {
  const chips = Object.entries(CHIPS).filter(([name]) => page.query.get(name)).map(([name, label]) => chip(page, name, label));
  return h(
    "div",
    { class: "filters" },
    chooser(page, "category", "Category", CATEGORIES.map((name) => [name, CATEGORY_NAMES[name]])),
    chooser(page, "severity", "Severity", SEVERITIES.map((name) => [name, words(name)])),
    h("div", { class: "filters-rest" }, chips, h("span", { class: "small soft", role: "status" }, text)),
    downloads(page),
  );
}

function chooser(page, name, label, options) {
  const all = [["", "All"], ...options];
  const element = select({ label, name, options: all, value: page.query.get(name) ?? "" });
  const input = element.querySelector("select");
  input.id = `filter-${name}`; // the same each time: keeps the focus when the list is loaded again
  element.querySelector("label").htmlFor = input.id;
  input.addEventListener("change", () => page.setQuery({ [name]: input.value, page: "" }));
  return element;
}

function chip(page, name, label) {
  const value = name === "module" ? moduleName(page.query.get(name)) : page.query.get(name);
  const remove = { class: "chip", type: "button", title: value, on: { click: () => page.setQuery({ [name]: "", page: "" }) }, "aria-label": `Remove the filter ${label}: ${value}` };
  return h("button", remove, h("span", { class: "faint" }, label), h("span", { class: "clip" }, value), icon("close", 14));
}

function downloads(page) {
  const path = `/api/repos/${page.params.repositoryId}/violations`;
  const query = Object.fromEntries(FILTERS.map((name) => [name, page.query.get(name)]));
  const item = (text, ending) => menuItem([icon("download", 16), text], { onClick: (event) => whileBusy(event.currentTarget, () => api.download(path + ending, { query })) });
  const face = [icon("download", 16), "Download"];
  return menu({ face, label: "Download", align: "end", items: [item("CSV, with these filters", ".csv"), item("SARIF, all of them", ".sarif")] });
}

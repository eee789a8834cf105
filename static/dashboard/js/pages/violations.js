/** Open violations of a repository; the filters live in the address. */

import { h } from "../core/dom.js";
import { count } from "../core/format.js";
import { pageOf } from "../data/pages.js";
import { card } from "../ui/card.js";
import { state } from "../ui/states.js";
import { pager } from "../ui/table.js";
import { filterBar, FILTERS } from "./violations/filters.js";
import { finding } from "./violations/finding.js";

export const title = "Violations";

const PER_PAGE = 25;

export function load(page) {
  const given = Object.fromEntries(FILTERS.map((name) => [name, page.query.get(name)]));
  return pageOf(page, `/api/repos/${page.params.repositoryId}/violations`, { ...given, perPage: PER_PAGE });
}

export function view(list, page) {
  const isFiltered = FILTERS.some((name) => page.query.get(name));
  const text = `${count(list.total, "violation")}${isFiltered ? " with these filters" : ""}, the gravest first`;
  const addressOf = (number) => addressWith(page, { page: number });
  return [
    filterBar(page, text),
    card(
      { flush: true },
      list.total ? h("ul", { class: "findings" }, list.data.map((one) => h("li", null, finding(one, page)))) : nothing(isFiltered, page),
      list.totalPages > 1 && pager(list, addressOf, "violations"),
    ),
  ];
}

function addressWith(page, changes) {
  const query = new URLSearchParams(page.query);
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  return `${page.path}?${query}`;
}

function nothing(isFiltered, page) {
  if (isFiltered) return state({ icon: "search", title: "Nothing with these filters", text: "Take one of them away to see more.", actions: [h("a", { class: "button", href: page.path }, "Remove all filters")] });
  if (!page.frame.repository.lastScanAt) return state({ icon: "repository", title: "Not scanned yet", text: "Violations appear here after the first scan." });
  return state({ icon: "check", tone: "good", title: "Nothing open", text: "The last scan found no violation." });
}

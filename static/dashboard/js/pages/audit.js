/** Who changed what in an organization. */

import { h } from "../core/dom.js";
import { ago, date, time } from "../core/format.js";
import { iconOf, said } from "../data/audit.js";
import { pageOf } from "../data/pages.js";
import { card, pageHead } from "../ui/card.js";
import { icon } from "../ui/icons.js";
import { state } from "../ui/states.js";
import { pager } from "../ui/table.js";

const PER_PAGE = 30;

export const title = "Audit log";

export function load(page) {
  return pageOf(page, `/orgs/${page.params.organizationId}/audit-log`, { perPage: PER_PAGE });
}

export function view(list, page) {
  const head = pageHead({ title: "Audit log", text: "Every change that somebody made, the newest first. Nothing in it can be edited or deleted." });
  if (list.total === 0) return [head, card({}, state({ icon: "history", title: "Nothing has happened yet" }))];
  return [head, card({ flush: true }, byDay(list.data), pager(list, (number) => `${page.path}?page=${number}`, "entries"))];
}

function byDay(entries) {
  const days = grouped(entries);
  return [...days].map(([text, some]) =>
    h("section", { class: "audit-day" }, h("h2", null, text), h("ol", { class: "audit-list" }, some.map(line))),
  );
}

function grouped(entries) {
  const days = new Map();
  for (const entry of entries) days.set(dayOf(entry), [...(days.get(dayOf(entry)) ?? []), entry]);
  return days;
}

const dayOf = ({ createdAt }) => date(createdAt);

function line(entry) {
  const who = entry.actor?.name ?? "The service";
  return h(
    "li",
    { class: "audit-line" },
    h("span", { class: "audit-mark" }, icon(iconOf(entry), 16)),
    h("span", { class: "audit-text" }, h("strong", { title: entry.actor?.email }, who), " ", said(entry)),
    h("time", { class: "small faint", datetime: entry.createdAt, title: time(entry.createdAt) }, ago(entry.createdAt)),
  );
}

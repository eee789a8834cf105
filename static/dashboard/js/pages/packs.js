/** Rule packs: policies that come with the service, one for each kind of project. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { count, words } from "../core/format.js";
import { LANGUAGES } from "../data/words.js";
import { badge } from "../ui/badge.js";
import { card, pageHead } from "../ui/card.js";
import { field, select } from "../ui/form.js";
import { icon } from "../ui/icons.js";
import { state } from "../ui/states.js";

const TYPING_PAUSE_MS = 250;

export const title = "Rule packs";

export async function load({ query, signal }) {
  const asked = { q: query.get("q"), framework: query.get("framework") };
  const [found, all] = await Promise.all([api.get("/api/packs", { query: asked, signal }), api.get("/api/packs", { signal })]);
  return { found, frameworks: [...new Set(all.map(({ framework }) => framework))].sort() };
}

export function view({ found, frameworks }, page) {
  const text = "A pack puts a tried policy in place: the layers of a stack, and gates that suit it. Exceptions and declared table sizes stay as they are.";
  return [
    pageHead({ title: "Rule packs", text }),
    finder(frameworks, page),
    found.length ? h("ul", { class: "packs" }, found.map(pack)) : card({}, nothing(page)),
  ];
}

function finder(frameworks, page) {
  const names = frameworks.map((name) => [name, name === "any" ? "Any framework" : words(name)]);
  const search = field({ label: "Search", name: "q", type: "search", id: "pack-search", value: page.query.get("q") ?? "", placeholder: "django, queue, hexagonal…" });
  const framework = select({ label: "Framework", name: "framework", id: "pack-framework", options: [["", "All"], ...names], value: page.query.get("framework") ?? "" });
  search.classList.add("pack-search");
  let timer;
  search.addEventListener("input", ({ target }) => {
    clearTimeout(timer);
    timer = setTimeout(() => page.setQuery({ q: target.value }, { replace: true }), TYPING_PAUSE_MS);
  });
  framework.addEventListener("change", ({ target }) => page.setQuery({ framework: target.value }));
  return h("search", { class: "filters" }, search, framework);
}

function pack({ name, title: heading, description, languages, ruleCount, tags }) {
  return h(
    "li",
    { class: "card pack" },
    h("div", { class: "pack-head" }, h("span", { class: "pack-mark" }, icon("pack", 20)), h("h2", null, h("a", { href: `/packs/${name}` }, heading))),
    h("p", { class: "soft" }, description),
    h("p", { class: "small faint" }, [count(ruleCount, "rule"), languages.map((one) => LANGUAGES[one] ?? words(one)).join(", ")].filter(Boolean).join(" · ")),
    h("div", { class: "row" }, tags.slice(0, 5).map((tag) => badge(tag))),
  );
}

function nothing(page) {
  const text = "Try fewer or shorter words: each of them must begin a word of the pack.";
  return state({ icon: "search", title: "No pack matches", text, actions: [h("a", { class: "button", href: page.path }, "Show all packs")] });
}

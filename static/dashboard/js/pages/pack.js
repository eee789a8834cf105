/** One rule pack: what it puts in place, its rules, and the way into a repository's policy. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { words } from "../core/format.js";
import { repositories } from "../data/catalog.js";
import { isAtLeast } from "../data/roles.js";
import { CATEGORIES, CATEGORY_NAMES, LANGUAGES } from "../data/words.js";
import { badge, severityBadge } from "../ui/badge.js";
import { button } from "../ui/button.js";
import { card, grid, pageHead } from "../ui/card.js";
import { gateList, layerList } from "../ui/policy.js";
import { askForRepository } from "./pack/apply.js";

export const title = ({ pack }) => pack.title;

export async function load({ params, signal }) {
  const [pack, all] = await Promise.all([api.get(`/api/packs/${encodeURIComponent(params.name)}`, { signal }), repositories()]);
  return { pack, all };
}

export function view({ pack, all }, page) {
  const changeable = all.filter(({ organizationId }) => mayChange(organizationId, page));
  const apply = button("Apply to a repository", { kind: "primary", icon: "gate", onClick: () => void askForRepository(pack, changeable) });
  return [
    h("a", { class: "small", href: "/packs" }, "All rule packs"),
    pageHead({ title: pack.title, text: pack.description, actions: changeable.length ? [apply] : [] }),
    h("div", { class: "row" }, pack.languages.map((name) => badge(LANGUAGES[name] ?? words(name), "accent")), pack.tags.map((tag) => badge(tag)), h("span", { class: "small faint" }, `Version ${pack.version}`)),
    changeable.length === 0 && h("p", { class: "small soft" }, "Applying it needs a connected repository of which you are an admin or the owner."),
    grid("20rem", layers(pack.policy), gates(pack.policy)),
    rules(pack.rules),
  ];
}

function mayChange(organizationId, page) {
  return isAtLeast("admin", page.frame.organizations.find(({ id }) => id === organizationId)?.role);
}

function layers({ layers: all, architecture }) {
  const text = architecture ? `Architecture ${architecture}: from the outermost layer to the innermost.` : "The pack sets no layers.";
  return card({ title: "Layers", text }, layerList(all));
}

function gates({ gates: { block_merge: block = [], warn = [] } }) {
  return card({ title: "Gates", text: "What stops a merge, and what only warns." }, gateList(block, "block"), gateList(warn, "warn"));
}

function rules(all) {
  const groups = CATEGORIES.map((category) => [category, all.filter((rule) => rule.category === category)]).filter(([, some]) => some.length);
  const line = ({ id, severity, title: name }) => h("li", { class: "pack-rule" }, severityBadge(severity), h("span", null, name), h("code", { class: "small faint" }, id));
  return card(
    { title: `Rules (${all.length})`, text: "What the pack is about. A pack never switches off other rules." },
    h("div", { class: "pack-rules" }, groups.map(([category, some]) => h("section", null, h("h3", null, CATEGORY_NAMES[category]), h("ul", null, some.map(line))))),
  );
}

/** The signed-in frame: a sidebar with the ways around, and the content beside it. */

import { h } from "../core/dom.js";
import { initials } from "../core/format.js";
import { logOut } from "../core/session.js";
import { chosenTheme, chooseTheme } from "../core/theme.js";
import { me, organizations } from "../data/catalog.js";
import { isAtLeast } from "../data/roles.js";
import { icon } from "../ui/icons.js";
import { menu, menuItem } from "../ui/menu.js";
import { brand } from "./brand.js";
import { chosenOrganization, chooseOrganization } from "../data/chosen.js";

export const app = {
  async load() {
    const [user, all] = await Promise.all([me(), organizations()]);
    return { user, organizations: all };
  },

  view(data, page, content) {
    return appFrame(data, page, chosenOrganization(data.organizations), h("div", { class: "content-inner", "aria-busy": "false" }, content));
  },

  async whenRefused(error, page, content) {
    return h("main", { class: "entrance", "data-page-start": true, tabindex: "-1" }, h("div", { class: "entrance-card" }, content));
  },
};

/** The shell around `inner`, with `organization` as the one that the sidebar is about. */
export function appFrame({ user, organizations: all }, page, organization, inner) {
  const sidebar = h(
    "aside",
    { class: "sidebar", id: "sidebar" },
    brand(),
    h("nav", { class: "stack", "aria-label": "Main" }, everywhere(page), organization && ofOrganization(page, organization, all)),
    h("div", { class: "side-end" }, apiLink(), userMenu(user)),
  );
  const content = h("main", { class: "content", id: "content", tabindex: "-1", "data-page-start": true }, inner);
  const skip = h("a", { class: "skip", href: "#content" }, "Skip to the content");
  const shell = h("div", { class: "shell" }, skip, topbar(), sidebar, content);
  shell.addEventListener("click", (event) => moveMenu(shell, event));
  shell.addEventListener("keydown", ({ key }) => key === "Escape" && delete shell.dataset.menu);
  return shell;
}

function everywhere(page) {
  return h(
    "div",
    { class: "side-group" },
    sideLink(page.tab === "repositories" || Boolean(page.params.repositoryId), "/", "repository", "Repositories"),
    sideLink(page.tab === "packs", "/packs", "pack", "Rule packs"),
  );
}

function ofOrganization(page, organization, all) {
  const here = Boolean(page.params.organizationId);
  const link = (tab, name, text) => sideLink(here && page.tab === tab, `/orgs/${organization.id}/${tab}`, name, text);
  return h(
    "div",
    { class: "side-group" },
    switcher(organization, all),
    link("members", "people", "Members"),
    link("plan", "wallet", "Plan and usage"),
    link("credits", "coins", "Credits"),
    isAtLeast("admin", organization.role) && link("audit", "history", "Audit log"),
    link("settings", "settings", "Settings"),
  );
}

function switcher(organization, all) {
  const face = [h("span", { class: "avatar" }, initials(organization.name)), h("span", { class: "clip", dir: "auto" }, organization.name), icon("chevron", 14)];
  const items = all.map((one) =>
    menuItem([h("span", { class: "avatar" }, initials(one.name)), h("span", { class: "clip", dir: "auto" }, one.name), one.id === organization.id && icon("check", 16)], {
      href: `/orgs/${one.id}/members`,
      onClick: () => chooseOrganization(one.id),
    }),
  );
  const create = menuItem([icon("plus", 16), "New organization"], { href: "/orgs/new" });
  return menu({ face, label: `Organization: ${organization.name}. Change`, items: [...items, create] });
}

function userMenu(user) {
  const face = [h("span", { class: "avatar", "data-round": true }, initials(user.name)), h("span", { class: "clip", dir: "auto" }, user.name)];
  const theme = (value, name, text) =>
    menuItem([icon(name, 16), text, chosenTheme() === value && icon("check", 16)], { onClick: () => chooseTheme(value), current: chosenTheme() === value });
  const items = [
    h("div", { class: "side-title" }, user.email),
    theme("system", "settings", "Theme of the system"),
    theme("light", "sun", "Light"),
    theme("dark", "moon", "Dark"),
    menuItem([icon("logout", 16), "Sign out"], { onClick: () => logOut() }),
  ];
  return menu({ face, label: `Account of ${user.name}`, from: "bottom", items });
}

function apiLink() {
  return h("a", { class: "side-link", href: "/v1/docs", target: "_blank", rel: "noreferrer" }, icon("key"), "API reference");
}

function sideLink(isCurrent, href, name, text) {
  return h("a", { class: "side-link", href, "aria-current": isCurrent ? "page" : null }, icon(name), text);
}

function topbar() {
  const open = { class: "button", type: "button", "data-open-menu": true, "data-kind": "quiet", "aria-controls": "sidebar" };
  return h("header", { class: "topbar" }, brand(), h("button", { ...open, "aria-label": "Menu" }, icon("menu", 20)));
}

/** On narrow screens the sidebar slides in; a click outside of it or on one of its links sends it away. */
function moveMenu(shell, event) {
  if (event.target.closest("[data-open-menu]")) {
    shell.dataset.menu = "open";
    shell.querySelector("#sidebar a").focus();
  } else if (!event.target.closest("#sidebar") || event.target.closest("a")) {
    delete shell.dataset.menu;
  }
}

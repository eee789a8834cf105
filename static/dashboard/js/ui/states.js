/** What stands where data would: nothing yet, not allowed, not found, broken, or on its way. */

import { h } from "../core/dom.js";
import { chosenOrganizationId } from "../data/chosen.js";
import { button, linkButton } from "./button.js";
import { icon } from "./icons.js";

/**
 * A designed message in the middle of a card or page.
 * @param {{icon: string, title: string, text?: string|Node, tone?: string, actions?: Node[], level?: "h1"|"h2"}} options
 */
export function state({ icon: name, title, text, tone, actions = [], level = "h2" }) {
  return h(
    "div",
    { class: "state", data: { tone } },
    h("div", { class: "state-mark" }, icon(name, 22)),
    h(level, null, title),
    text && h("p", null, text),
    actions.length > 0 && h("div", { class: "row" }, actions),
  );
}

/** Why a page is not there, after the status of the refusal, with the way on. */
export function errorState(error, retry) {
  if (isOfPlan(error)) return planState(error);
  const [name, title, tone] = sortOf(error);
  const home = linkButton("All repositories", "/");
  const actions = [403, 404].includes(error.status) ? [home] : [wayOn(error, retry), home];
  const text = textOf(error);
  return h("div", { class: "card", role: "alert" }, state({ icon: name, title, text, tone, actions, level: "h1" }));
}

/** The same request would be refused again where the address itself is at fault. */
function wayOn({ status }, retry) {
  return status === 400 ? linkButton("Show the page without it", location.pathname) : button("Try again", { icon: "refresh", onClick: retry });
}

function textOf({ status, field, message, sentence }) {
  if (status === 400 && field) return `“${field}” in the address ${message.slice(field.length + 2)}.`;
  return sentence ?? "The page could not be shown.";
}

/** The heading of a refusal, for the title of the window. */
export function errorTitle(error) {
  return isOfPlan(error) ? NOT_IN_PLAN : sortOf(error)[1];
}

const isOfPlan = ({ status, message }) => status === 403 && message.startsWith("The plan ");
const sortOf = ({ status }) => SORTS[status] ?? ["alert", "Something went wrong", "critical"];

/** A plan that lacks the feature: what it is missing, and the way to the plans. */
function planState({ message }) {
  const id = chosenOrganizationId();
  const actions = id ? [linkButton("Compare the plans", `/orgs/${id}/plan`, { kind: "primary" })] : [];
  const text = message.replace(/\b[a-z]+[A-Z]\w*/, (name) => `the ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`);
  return h("div", { class: "card", role: "alert" }, state({ icon: "wallet", title: NOT_IN_PLAN, text: `${text}.`, tone: "accent", actions }));
}

const NOT_IN_PLAN = "Not part of your plan";

const SORTS = {
  400: ["search", "The address is not right", ""],
  0: ["alert", "No connection", "critical"],
  403: ["lock", "This is not open to you", "accent"],
  404: ["search", "Not found", ""],
  409: ["clock", "Not possible right now", "accent"],
  429: ["clock", "Too many requests", "accent"],
  503: ["clock", "Not available here", "accent"],
};

/** The page of an address that no route knows. */
export const missingPage = {
  title: "Not found",
  view() {
    const text = "No page has this address. It may have moved, or the link may be incomplete.";
    const actions = [linkButton("All repositories", "/")];
    return h("div", { class: "card" }, state({ icon: "search", title: "Not found", text, actions, level: "h1" }));
  },
};

/** Grey blocks in the shape of a page. Invisible at first, so that quick answers do not flicker. */
export function pageSkeleton() {
  const card = (height) => h("div", { class: "card" }, block("30%", "1rem"), block("100%", height));
  return h(
    "div",
    { class: "page skeleton-page", role: "status", "aria-label": "Loading" },
    block("14rem", "1.8rem"),
    h("div", { class: "grid" }, card("4rem"), card("4rem"), card("4rem")),
    card("14rem"),
  );
}

/** One grey block. */
export function block(width, height) {
  return h("div", { class: "skeleton", style: { width, height, "margin-bottom": "0.75rem" } });
}

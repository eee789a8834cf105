/** The plans beside each other, by month or by year, and the way from one to another. */

import { h } from "../../core/dom.js";
import { money } from "../../core/format.js";
import { isLive, offersOf } from "../../data/plans.js";
import { badge } from "../../ui/badge.js";
import { button } from "../../ui/button.js";
import { choice } from "../../ui/choice.js";
import { icon } from "../../ui/icons.js";
import { buy, change } from "./choose.js";

const CYCLES = [["monthly", "Monthly"], ["annual", "Annual, two months free"]];

/** All plans. The cycle stands in the address; it begins with the subscription's own. */
export function offers(data, current, page) {
  const cycle = page.query.get("cycle") ?? data.subscription.billingCycle ?? "monthly";
  const choose = choice({ id: "cycle", label: "Billing cycle", options: CYCLES, value: cycle, onChoose: (value) => page.setQuery({ cycle: value, checkout: "" }, { replace: true }) });
  return h(
    "section",
    { class: "stack", "aria-labelledby": "plans" },
    h("div", { class: "row row-between" }, h("h2", { id: "plans" }, "Plans"), choose),
    h("div", { class: "offers" }, data.plans.map((plan) => offer(plan, cycle, data, current, page))),
  );
}

function offer(plan, cycle, data, current, page) {
  const isCurrent = plan.id === current.id;
  const isAnnual = cycle === "annual" && plan.priceAnnual > 0;
  return h(
    "article",
    { class: "card offer", data: { current: isCurrent || null } },
    h("div", { class: "row row-between" }, h("h3", null, plan.name), isCurrent && badge("Current", "accent")),
    h("div", { class: "offer-price" }, money(isAnnual ? plan.priceMonthlyIfAnnual : plan.priceMonthly), h("small", null, " a month")),
    h("p", { class: "small faint" }, isAnnual ? `${money(plan.priceAnnual)} billed once a year` : plan.priceMonthly ? "billed each month" : "for ever"),
    h("ul", { class: "offer-list" }, offersOf(plan).map(lineOf)),
    h("div", { class: "offer-act" }, action(plan, cycle, data, current, page)),
  );
}

function lineOf({ text, isIncluded }) {
  const spokenOff = isIncluded ? "" : h("span", { class: "only-spoken" }, "not included: ");
  return h("li", { class: isIncluded ? "" : "faint" }, icon(isIncluded ? "check" : "close", 15), h("span", null, spokenOff, text));
}

function action(plan, cycle, data, current, page) {
  const { subscription } = data;
  if (page.frame.organization.role !== "owner" || plan.priceMonthly === 0) return null;
  if (plan.id === current.id && (!isLive(subscription) || subscription.billingCycle === cycle)) return null;
  if (isLive(subscription)) {
    const label = plan.id === current.id ? `Pay ${cycle === "annual" ? "annually" : "monthly"}` : `Change to ${plan.name}`;
    return button(label, { wide: true, kind: plan.priceMonthly > current.priceMonthly ? "primary" : undefined, onClick: () => change(plan, cycle, subscription, page) });
  }
  if (data.providers.length === 0) return h("p", { class: "small soft" }, "Payments are not set up here.");
  return button(`Choose ${plan.name}`, { wide: true, kind: plan.id === "pro" ? "primary" : undefined, onClick: () => void buy(plan, cycle, data.providers, page) });
}

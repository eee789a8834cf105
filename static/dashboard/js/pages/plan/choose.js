/** Buying a plan on a provider's page, and changing a bought one after a look at what it costs. */

import * as api from "../../core/api.js";
import { h } from "../../core/dom.js";
import { date, money } from "../../core/format.js";
import { PAYMENT_PROVIDERS } from "../../data/plans.js";
import { button } from "../../ui/button.js";
import { openDialog } from "../../ui/dialog.js";
import { toast } from "../../ui/toast.js";
import { changed } from "./subscription.js";

/** Ask how to pay and go to the provider's page. */
export function buy(plan, cycle, providers, page) {
  const amount = cycle === "annual" ? `${money(plan.priceAnnual)} a year` : `${money(plan.priceMonthly)} a month`;
  return openDialog({
    title: `${plan.name} for ${amount}`,
    text: "You pay on the provider's page. The plan begins as soon as the provider has confirmed it, and can be cancelled at any time.",
    content: (close) =>
      h("div", { class: "stack" }, providers.map(({ id }) => wayToPay(id, plan, cycle, page)), h("div", { class: "form-actions" }, button("Not now", { onClick: () => close() }))),
  });
}

function wayToPay(provider, plan, cycle, page) {
  const { name, path, urlField, text } = PAYMENT_PROVIDERS[provider];
  const pay = async () => {
    const answer = await api.post(path, { orgId: page.params.organizationId, planId: plan.id, billingCycle: cycle });
    location.assign(answer[urlField]);
  };
  return h("div", { class: "act" }, h("div", null, h("h3", null, name), h("p", { class: "small soft" }, text)), button(`Pay by ${name.toLowerCase()}`, { kind: "primary", onClick: pay }));
}

/** Show what a change costs, and make it. */
export async function change(plan, cycle, subscription, page) {
  const body = { orgId: page.params.organizationId, planId: plan.id, billingCycle: cycle };
  const preview = await api.post("/billing/preview-change", body);
  const [text, lines] = terms(preview, plan, cycle, subscription);
  void openDialog({
    title: `Change to ${plan.name}`,
    text,
    content: (close) =>
      h("div", { class: "stack" }, h("dl", { class: "sums" }, lines), h("div", { class: "form-actions" }, button("Not now", { onClick: () => close() }), confirm(body, plan, page, close))),
  });
}

/** What is said of a change, and its sums: a wallet has its own, and only another cycle begins a new period at once. */
function terms({ newPrice, proratedCredit, amountDue }, plan, cycle, subscription) {
  const price = line(`${plan.name}, ${cycle === "annual" ? "one year" : "one month"}`, newPrice);
  if (!PAYMENT_PROVIDERS[subscription.provider].isProrated) {
    return ["You approve the new price in your wallet, which says what it takes and when. Until then the plan stays as it is.", price];
  }
  const text = "The rest of the period that is paid already counts towards the new price, to the second.";
  const unused = line("Unused part of the present period", -proratedCredit);
  if (cycle !== subscription.billingCycle) return [text, [price, unused, line("Due now", amountDue, "number sums-total")]];
  const share = cents(newPrice * shareLeft(subscription));
  const difference = cents(share - proratedCredit);
  const whose = difference < 0 ? "In your favour" : "To pay for this period";
  return [text, [line(`${plan.name} until ${date(subscription.currentPeriodEnd)}`, share), unused, line(whose, Math.abs(difference), "number sums-total")]];
}

function shareLeft({ currentPeriodStart, currentPeriodEnd }) {
  const [start, end] = [currentPeriodStart, currentPeriodEnd].map((instant) => new Date(instant).getTime());
  return Math.min(1, Math.max(0, (end - Date.now()) / (end - start)));
}

function cents(amount) {
  return Math.round(amount * 100) / 100;
}

function line(term, amount, look = "number") {
  return [h("dt", null, term), h("dd", { class: look }, money(amount))];
}

function confirm(body, plan, page, close) {
  const act = async () => {
    const move = await api.post("/billing/change-plan", body);
    if (move.approvalUrl) return location.assign(move.approvalUrl);
    close();
    await changed(page);
    return toast(`The plan is ${plan.name} now`, "good");
  };
  return button("Change the plan", { kind: "primary", icon: "check", onClick: act });
}

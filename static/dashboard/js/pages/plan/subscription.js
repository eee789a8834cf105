/** The subscription: what runs until when, and what its owner may do with it. */

import * as api from "../../core/api.js";
import { h } from "../../core/dom.js";
import { ago, count, date, money } from "../../core/format.js";
import { isLive, PAYMENT_PROVIDERS, SUBSCRIPTION_STATES } from "../../data/plans.js";
import { dotted } from "../../ui/badge.js";
import { button } from "../../ui/button.js";
import { card, note } from "../../ui/card.js";
import { confirmDialog } from "../../ui/dialog.js";
import { icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";

/** A card about the present plan and its subscription. */
export function subscriptionCard({ subscription }, plan, page) {
  const isOwner = page.frame.organization.role === "owner";
  const actions = isOwner && isLive(subscription) ? buttons(subscription, page) : [];
  return card(
    { title: "Current plan", actions: badgeOf(subscription, plan) },
    h("div", { class: "plan-now" }, h("span", { class: "plan-name" }, plan.name), price(subscription, plan)),
    warning(subscription),
    facts(subscription),
    actions.length > 0 && h("div", { class: "form-actions card-foot" }, actions),
    !isOwner && h("p", { class: "small soft card-foot" }, "Only the owner of the organization can change the plan."),
  );
}

function badgeOf(subscription, plan) {
  if (!isLive(subscription) && plan.priceMonthly > 0) return dotted("Given by the operator", "accent");
  if (subscription.status === "inactive") return null;
  const { name, tone } = SUBSCRIPTION_STATES[subscription.status];
  return dotted(name, tone);
}

function price(subscription, plan) {
  if (plan.priceMonthly === 0) return h("span", { class: "soft" }, `for up to ${count(plan.limits.maxRepos, "repository", "repositories")}`);
  if (!isLive(subscription)) return null;
  const isAnnual = subscription.billingCycle === "annual";
  return h("span", { class: "soft" }, `${money(isAnnual ? subscription.priceAnnual : subscription.priceMonthly)} a ${isAnnual ? "year" : "month"}`);
}

function warning({ status, provider, currentPeriodEnd }) {
  if (status === "past_due") {
    return note("critical", icon("alert"), `The last payment failed. The provider tries again for some days; ${PAYMENT_PROVIDERS[provider].unpaid}, or the plan ends.`);
  }
  if (status === "cancelling") {
    return note("warning", icon("clock"), `The plan ends ${ago(currentPeriodEnd)}, on ${date(currentPeriodEnd)}. Until then everything stays usable.`);
  }
  return null;
}

function facts(subscription) {
  if (!isLive(subscription)) return null;
  const { provider, currentPeriodStart, currentPeriodEnd, cancelAtPeriodEnd } = subscription;
  const line = (term, text) => text && [h("dt", null, term), h("dd", null, text)];
  return h(
    "dl",
    { class: "terms" },
    line("Paid by", PAYMENT_PROVIDERS[provider]?.name),
    line("This period", currentPeriodStart && `${date(currentPeriodStart)} to ${date(currentPeriodEnd)}`),
    line(cancelAtPeriodEnd ? "Ends" : "Renews", currentPeriodEnd && ago(currentPeriodEnd)),
  );
}

function buttons(subscription, page) {
  const orgId = page.params.organizationId;
  const toPortal = async () => location.assign((await api.post("/billing/portal", { orgId })).portalUrl);
  const portal = PAYMENT_PROVIDERS[subscription.provider].hasPortal && button("Cards and documents", { icon: "wallet", onClick: toPortal });
  return [portal, subscription.cancelAtPeriodEnd ? keepButton(orgId, page) : cancelButton(subscription, orgId, page)];
}

function keepButton(orgId, page) {
  const keep = async () => {
    await api.post("/billing/reactivate", { orgId });
    await changed(page);
    toast("The plan goes on", "good");
  };
  return button("Keep the plan", { kind: "primary", onClick: keep });
}

function cancelButton({ planName, currentPeriodEnd }, orgId, page) {
  const cancel = async () => {
    await api.post("/billing/cancel", { orgId });
    await changed(page);
    toast("The plan is cancelled", "good");
  };
  const ask = () =>
    void confirmDialog({
      title: `Cancel the plan ${planName}?`,
      text: `It stays usable until ${date(currentPeriodEnd)} and can be taken back until then. After that the organization is on the free plan: no gate, no AI credits.`,
      label: "Cancel the plan",
      action: cancel,
    });
  return button("Cancel the plan", { kind: "quiet", onClick: ask });
}

/** Show the page as it is after a change of the plan. */
export function changed(page) {
  return page.reload();
}

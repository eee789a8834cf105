/** The plan of an organization: what it allows and how much is used, buying, changing and ending it, invoices. */

import * as api from "../core/api.js";
import { money } from "../core/format.js";
import { organization as read } from "../data/catalog.js";
import { isAtLeast } from "../data/roles.js";
import { isLive } from "../data/plans.js";
import { grid, pageHead } from "../ui/card.js";
import { comeBack } from "./plan/comeback.js";
import { invoiceCard } from "./plan/invoices.js";
import { offers } from "./plan/offers.js";
import { subscriptionCard } from "./plan/subscription.js";
import { usageCard } from "./plan/usage.js";

export const title = "Plan and usage";

export async function load({ params, signal }) {
  const id = params.organizationId;
  const get = (path) => api.get(path, { signal });
  const { role, planId } = await read(id);
  const [plans, subscription, enforcement, credits, providers, invoices] = await Promise.all([
    get("/plans"),
    get(`/billing/subscription/${id}`),
    get(`/plans/org/${id}/enforcement`),
    get(`/credits/org/${id}`),
    get("/billing/providers"),
    isAtLeast("admin", role) && planId !== "free" ? get(`/billing/invoices/${id}?limit=12`) : null,
  ]);
  return { plans, subscription, enforcement, credits, providers, invoices };
}

export function view(data, page) {
  const plan = data.plans.find(({ id }) => id === data.enforcement.planId);
  return [
    pageHead({ title: "Plan and usage", text: summary(plan, data.subscription) }),
    comeBack(data, page),
    grid("20rem", subscriptionCard(data, plan, page), usageCard(data.enforcement, data.credits)),
    offers(data, plan, page),
    data.invoices && invoiceCard(data.invoices),
  ];
}

function summary(plan, subscription) {
  if (plan.priceMonthly === 0) return "You are on the free plan. A paid plan adds the pull request gate and more room.";
  if (!isLive(subscription)) return `${plan.name}, given by the operator of this service.`;
  const isAnnual = subscription.billingCycle === "annual";
  return `${plan.name}, ${money(isAnnual ? subscription.priceAnnual : subscription.priceMonthly)} a ${isAnnual ? "year" : "month"}.`;
}

/** What plans, subscriptions and payment providers are called, and what a plan offers in words. */

import { number } from "../core/format.js";

export const SUBSCRIPTION_STATES = {
  active: { name: "Active", tone: "good" },
  cancelling: { name: "Ends soon", tone: "warning" },
  past_due: { name: "Payment failed", tone: "critical" },
  pending: { name: "Waiting for payment", tone: "info" },
  inactive: { name: "No subscription", tone: "" },
  cancelled: { name: "Cancelled", tone: "" },
};

export const PAYMENT_PROVIDERS = {
  cardpay: {
    name: "Card",
    path: "/billing/checkout",
    urlField: "checkoutUrl",
    text: "Credit or debit card, on the provider's page",
    hasPortal: true,
    isProrated: true,
    unpaid: "check the card in the customer portal",
  },
  walletpay: {
    name: "Wallet",
    path: "/billing/walletpay/checkout",
    urlField: "approvalUrl",
    text: "Approve it with your wallet account",
    hasPortal: false,
    isProrated: false,
    unpaid: "see to it in your wallet account",
  },
};

/** Payments that can still be managed: the plan was bought and has not ended. */
export const isLive = ({ status }) => ["active", "cancelling", "past_due"].includes(status);

/** What a plan offers, one line each: `{text, isIncluded}`. */
export function offersOf({ limits, features }) {
  return [
    line(upTo(limits.maxRepos, "repository", "repositories")),
    line(upTo(limits.maxMembers, "member", "members")),
    line(limits.aiCreditsPerMonth < 0 ? "Unlimited AI credits" : `${number(limits.aiCreditsPerMonth)} AI credits a month`, limits.aiCreditsPerMonth !== 0),
    line("Dashboard and command line", features.dashboard && features.cliScan),
    line("Pull request gate and badge", features.prGate),
    line("Policies, rule packs, architecture graph", features.architectureGraph),
    line("AI analysis across files", features.aiCrossFile),
  ];
}

function upTo(limit, one, many) {
  return limit < 0 ? `Unlimited ${many}` : `${number(limit)} ${limit === 1 ? one : many}`;
}

function line(text, isIncluded = true) {
  return { text, isIncluded };
}

/** What people read who come back from the payment provider's page. */

import * as api from "../../core/api.js";
import { isLive } from "../../data/plans.js";
import { note } from "../../ui/card.js";
import { icon } from "../../ui/icons.js";

const LOOKS = 30;
const BETWEEN_LOOKS_MS = 2000;

/**
 * A note for `?checkout=paid`, `?checkout=approved` (a change of the plan) and `?checkout=left`; after a payment it
 * watches until the provider has confirmed it.
 */
export function comeBack({ subscription }, page) {
  const outcome = page.query.get("checkout");
  if (outcome === "left") return note("", icon("close"), "You left the payment page: nothing was bought and nothing changed.");
  if (outcome === "approved") return note("accent", icon("clock"), "Thank you. The plan changes as soon as the wallet has confirmed it.");
  if (outcome !== "paid") return null;
  if (isLive(subscription)) return note("good", icon("check"), `Thank you. The plan ${subscription.planName} is active.`);
  watch(page).catch(() => {}); // the page was left, or the next visit tells
  return note("accent", icon("clock"), "Thank you. The payment provider is confirming the payment; the plan becomes active by itself.");
}

async function watch(page) {
  for (let look = 0; look < LOOKS; look += 1) {
    await api.pause(BETWEEN_LOOKS_MS, page.signal);
    const path = `/billing/subscription/${page.params.organizationId}`;
    if (!isLive(await api.get(path, { signal: page.signal }))) continue;
    await page.reload();
    return;
  }
}

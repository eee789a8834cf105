import { h } from "../core/dom.js";
import { note } from "./card.js";
import { icon } from "./icons.js";

/** A note for what the organization's plan does not include, with the way to the plans. */
export function planLacks(sentence, organization) {
  const plans = h("a", { href: `/orgs/${organization.id}/plan` }, "Compare the plans");
  return note("accent", icon("lock"), sentence, " ", plans);
}

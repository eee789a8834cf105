/** What the lines of the audit trail say, by their `action`. */

import { count, words } from "../core/format.js";

const SAID = {
  "organization.created": () => "founded the organization",
  "organization.updated": ({ details }) => `changed ${Object.keys(details).join(" and ") || "the organization"}`,
  "organization.ownership_transferred": ({ subject }) => `made ${subject} the owner`,
  "member.invited": ({ subject, details }) => `invited ${subject} as ${details.role ?? "member"}`,
  "member.invitation_cancelled": ({ subject }) => `cancelled the invitation of ${subject}`,
  "member.joined": () => "joined",
  "member.left": () => "left the organization",
  "member.removed": ({ subject }) => `removed ${subject}`,
  "member.role_changed": ({ subject, details }) => `made ${subject} ${details.to === "admin" ? "an admin" : "a member"}`,
  "repository.connected": ({ subject }) => `connected ${subject}`,
  "repository.disconnected": ({ subject }) => `disconnected ${subject}`,
  "repository.scanned_by_staff": ({ subject }) => `had ${subject} scanned, as staff`,
  "policy.changed": ({ subject }) => `changed the policy of ${subject}`,
  "policy.undone": ({ subject }) => `took back the last change of the policy of ${subject}`,
  "policy.pack_applied": ({ subject, details }) => `applied ${details.pack ?? "a rule pack"} to ${subject}`,
  "subscription.cancelled": ({ subject }) => `cancelled the plan ${words(subject)}`,
  "subscription.reactivated": ({ subject }) => `kept the plan ${words(subject)}`,
  "subscription.plan_changed": ({ details }) => `${details.approved === false ? "asked the wallet to change" : "changed"} the plan from ${words(details.from)} to ${words(details.to)}`,
  "credits.granted": ({ subject, details }) => `granted ${count(details.credits, "credit")}: ${subject}`,
};

const ICONS = { organization: "building", member: "people", repository: "repository", policy: "gate", subscription: "wallet", credits: "coins" };

/** What was done, to follow the name of who did it. Actions that are not known here are spelt out. */
export function said(entry) {
  return SAID[entry.action]?.(entry) ?? [words(entry.action.replace(".", " ")).toLowerCase(), entry.subject].filter(Boolean).join(" ");
}

/** The icon of what an entry is about. */
export function iconOf(entry) {
  return ICONS[entry.action.split(".")[0]] ?? "history";
}

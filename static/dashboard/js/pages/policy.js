/** The policy of a repository: what it asks for, how a change would judge, and the changing. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { ago, time } from "../core/format.js";
import { repository } from "../data/catalog.js";
import { read, undo } from "../data/policy.js";
import { isAtLeast } from "../data/roles.js";
import { badge } from "../ui/badge.js";
import { button } from "../ui/button.js";
import { note } from "../ui/card.js";
import { confirmDialog } from "../ui/dialog.js";
import { icon } from "../ui/icons.js";
import { planLacks } from "../ui/plan.js";
import { toast } from "../ui/toast.js";
import { editor } from "./policy/editor.js";

const SOURCES = {
  default: ["Defaults of the stack", "Nobody has written a policy: the defaults of the detected stack judge."],
  repository: [".techdebt.yml", "The file in the repository judges. A policy that is saved here goes before it."],
  api: ["Set here", "This policy goes before the repository's own file."],
};

export const title = "Policy";

export async function load({ params, signal }) {
  const { organizationId } = await repository(params.repositoryId);
  const [{ data: policy, version }, members, feature] = await Promise.all([
    read(params.repositoryId, signal),
    api.get(`/orgs/${organizationId}/members`, { signal }),
    api.get(`/plans/org/${organizationId}/can-use/policyEditor`, { signal }),
  ]);
  return { policy, version, isInPlan: feature.allowed, changedBy: members.find(({ userId }) => userId === policy.updatedBy)?.name };
}

export function view({ policy, version, isInPlan, changedBy }, page) {
  const isAdmin = isAtLeast("admin", page.frame.organization.role);
  const maySave = isInPlan && isAdmin;
  return [
    head(policy, changedBy, maySave, page),
    !isInPlan && planLacks("The present plan does not include the policy editor. You can try changes and see their effect.", page.frame.organization),
    isInPlan && !isAdmin && note("", icon("lock"), "Only admins and the owner can save a policy. You can try changes and see their effect."),
    editor({ policy, version, maySave }, page),
  ];
}

function head(policy, changedBy, maySave, page) {
  const [name, text] = SOURCES[policy.source];
  const changed = policy.updatedAt && h("time", { class: "small faint", datetime: policy.updatedAt, title: time(policy.updatedAt) }, `Changed ${ago(policy.updatedAt)}${changedBy ? ` by ${changedBy}` : ""}`);
  const packs = policy.packs.map((pack) => h("a", { href: `/packs/${pack}` }, badge(`Pack ${pack}`, "accent")));
  const actions = [h("a", { class: "button", href: "/packs" }, icon("pack", 16), "Rule packs"), maySave && policy.source === "api" && undoButton(page)];
  return h(
    "div",
    { class: "page-head" },
    h("div", { class: "page-head-text" }, h("h2", null, "Policy"), h("p", null, text), h("div", { class: "row" }, badge(name), packs, changed)),
    h("div", { class: "page-actions" }, actions),
  );
}

function undoButton(page) {
  const act = async () => {
    await undo(page.params.repositoryId);
    await page.reload();
    toast("The policy before is in force again", "good");
  };
  const text = "The policy before the last change judges again. Undoing once more takes that back.";
  return button("Undo the last change", { icon: "history", onClick: () => void confirmDialog({ title: "Undo the last change?", text, label: "Undo", kind: "primary", action: act }) });
}

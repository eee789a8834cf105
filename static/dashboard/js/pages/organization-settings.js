/** Name and address of an organization, handing it over, leaving it, deleting it. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { date } from "../core/format.js";
import { navigate } from "../core/router.js";
import { isAtLeast } from "../data/roles.js";
import { button } from "../ui/button.js";
import { card, pageHead } from "../ui/card.js";
import { confirmDialog, openDialog } from "../ui/dialog.js";
import { field, form, select } from "../ui/form.js";
import { toast } from "../ui/toast.js";

export const title = "Settings";

export function load({ params, signal }) {
  return api.get(`/orgs/${params.organizationId}/members`, { signal });
}

export function view(members, page) {
  const { organization } = page.frame;
  const isOwner = organization.role === "owner";
  return [
    pageHead({ title: "Settings", text: `Founded ${date(organization.createdAt)}, owned by ${nameOf(members, organization.ownerId)}.` }),
    isAtLeast("admin", organization.role) ? nameCard(organization, page) : readOnlyCard(organization),
    isOwner ? ownerCard(organization, members, page) : leaveCard(organization),
  ];
}

function nameOf(members, userId) {
  return members.find((one) => one.userId === userId)?.name ?? "nobody";
}

function nameCard(organization, page) {
  const save = async ({ name, slug }) => {
    await api.put(`/orgs/${organization.id}`, { name, slug });
    await page.reload();
    toast("Saved", "good");
  };
  return card(
    { title: "Name" },
    h("div", { class: "narrow" }, form({
      fields: [
        field({ label: "Name", name: "name", value: organization.name, maxlength: 100, required: true }),
        field({ label: "Slug", name: "slug", value: organization.slug, hint: "The short name in addresses: 2 to 48 of a-z, 0-9 and hyphens.", spellcheck: "false", class: "input mono" }),
      ],
      actions: [button("Save", { kind: "primary", type: "submit" })],
      onSubmit: save,
    })),
  );
}

function readOnlyCard({ name, slug }) {
  const line = (term, text) => [h("dt", null, term), h("dd", null, text)];
  const text = "Only admins and the owner change these.";
  return card({ title: "Name", text }, h("dl", { class: "terms" }, line("Name", name), line("Slug", h("code", null, slug))));
}

function leaveCard(organization) {
  const leave = async () => {
    await api.post(`/orgs/${organization.id}/leave`);
    await navigate("/");
    toast(`You have left ${organization.name}`, "good");
  };
  const ask = () =>
    void confirmDialog({
      title: `Leave ${organization.name}?`,
      text: "You lose access to its repositories at once. Somebody has to invite you to come back.",
      label: "Leave",
      action: leave,
    });
  return dangerCard([["Leave this organization", "Your access ends at once; what you did stays.", button("Leave", { kind: "danger", onClick: ask })]]);
}

function ownerCard(organization, members, page) {
  const others = members.filter(({ userId }) => userId !== page.frame.user.id);
  const transfer = button("Transfer", { kind: "danger", onClick: () => void askForHeir(organization, others, page), disabled: others.length === 0 });
  const why = others.length ? "You become an admin. Billing goes over too." : "There is nobody else here yet.";
  return dangerCard([
    ["Transfer ownership", why, transfer],
    ["Delete this organization", "With all repositories, results and members. Its subscription ends at once.", button("Delete", { kind: "danger", onClick: () => void askToDelete(organization) })],
  ]);
}

function dangerCard(acts) {
  const act = ([heading, text, act_]) => h("div", { class: "act" }, h("div", null, h("h3", null, heading), h("p", { class: "small soft" }, text)), act_);
  return card({ title: "Careful" }, h("div", { class: "acts" }, acts.map(act)));
}

function askForHeir(organization, others, page) {
  const options = others.map(({ userId, name, email }) => [userId, `${name} (${email})`]);
  return openDialog({
    title: "Transfer ownership",
    text: `The new owner manages billing and may delete ${organization.name}. You stay as an admin.`,
    content: (close) =>
      form({
        fields: [select({ label: "New owner", name: "newOwnerId", options })],
        actions: [button("Cancel", { onClick: () => close() }), button("Transfer", { kind: "danger", type: "submit" })],
        onSubmit: async ({ newOwnerId }) => {
          await api.post(`/orgs/${organization.id}/transfer-ownership`, { newOwnerId });
          close();
          await navigate(`/orgs/${organization.id}/members`);
          toast(`${nameOf(others, newOwnerId)} owns ${organization.name} now`, "good");
        },
      }),
  });
}

function askToDelete(organization) {
  return openDialog({
    title: `Delete ${organization.name}?`,
    text: "This cannot be taken back. Repositories, results, members and the audit log go with it.",
    content: (close) => {
      const submit = button("Delete for good", { kind: "danger", type: "submit", disabled: true });
      const name = field({ label: `Type ${organization.slug} to confirm`, name: "slug", autocomplete: "off", spellcheck: "false", class: "input mono" });
      name.addEventListener("input", (event) => {
        submit.disabled = event.target.value !== organization.slug;
      });
      return form({
        fields: [name],
        actions: [button("Cancel", { onClick: () => close() }), submit],
        onSubmit: async () => {
          await api.del(`/orgs/${organization.id}`);
          close();
          await navigate("/");
          toast(`${organization.name} is deleted`, "good");
        },
      });
    },
  });
}

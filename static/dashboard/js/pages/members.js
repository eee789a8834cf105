/** Who belongs to an organization, in which role, and who is invited. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { ago, count, date, initials, time } from "../core/format.js";
import { organization as read } from "../data/catalog.js";
import { isAtLeast } from "../data/roles.js";
import { badge } from "../ui/badge.js";
import { button } from "../ui/button.js";
import { card, note, pageHead } from "../ui/card.js";
import { confirmDialog, openDialog } from "../ui/dialog.js";
import { field, form, select } from "../ui/form.js";
import { icon } from "../ui/icons.js";
import { state } from "../ui/states.js";
import { table } from "../ui/table.js";
import { toast } from "../ui/toast.js";

const ROLES = [["member", "Member"], ["admin", "Admin"]];
const WHAT_ROLES_MAY = "Members read everything and start scans. Admins also connect repositories, edit policies and invite people.";

export const title = "Members";

export async function load({ params, signal }) {
  const path = `/orgs/${params.organizationId}`;
  const { role } = await read(params.organizationId);
  const asked = (rest) => api.get(`${path}${rest}`, { signal });
  const [members, usage, invitations] = await Promise.all([
    asked("/members"),
    api.get(`/plans/org/${params.organizationId}/usage`, { signal }),
    isAtLeast("admin", role) ? asked("/invitations") : null,
  ]);
  return { members, usage, invitations };
}

export function view({ members, usage, invitations }, page) {
  const { organization } = page.frame;
  const mayChange = isAtLeast("admin", organization.role);
  const taken = members.length + (invitations?.length ?? 0);
  const isFull = usage.members.limit >= 0 && taken >= usage.members.limit;
  const invite = button("Invite somebody", { kind: "primary", icon: "plus", id: "invite", onClick: () => void askForAddress(page) });
  return [
    pageHead({ title: "Members", text: room(members, usage), actions: mayChange && !isFull ? [invite] : [] }),
    mayChange && isFull && fullNote(organization),
    card({ flush: true }, memberTable(members, invitations ?? [], page, mayChange)),
    invitations && invitationCard(invitations, members, page, isFull ? null : invite),
  ];
}

function room(members, { members: { limit } }) {
  const all = count(members.length, "person", "people");
  return `${limit < 0 ? all : `${all}; the plan has room for ${limit}`}. ${WHAT_ROLES_MAY}`;
}

function fullNote(organization) {
  return note(
    "accent",
    icon("people"),
    "The plan has no room for another member. ",
    h("a", { href: `/orgs/${organization.id}/plan` }, "See plans with more room"),
  );
}

function memberTable(members, invitations, page, mayChange) {
  const isSelf = ({ userId }) => userId === page.frame.user.id;
  const columns = [
    { title: "Name", main: true, cell: (one) => person(one, isSelf(one)), sort: ({ name }) => name },
    { title: "Role", cell: (one) => roleOf(one, page, mayChange && !isSelf(one)) },
    { title: "Joined", cell: ({ joinedAt }) => since(joinedAt, date(joinedAt)), sort: ({ joinedAt }) => joinedAt },
    { title: "", align: "end", cell: (one) => (one.role !== "owner" && !isSelf(one) ? removeButton(one, sentBy(one, invitations), page) : null) },
  ];
  return table({ caption: "Members", rows: members, columns: mayChange ? columns : columns.slice(0, 3) });
}

const sentBy = ({ userId }, invitations) => invitations.filter(({ invitedBy }) => invitedBy?.userId === userId).length;

function person({ name, email }, isSelf) {
  return h(
    "div",
    { class: "person" },
    h("span", { class: "avatar", "data-round": true, "aria-hidden": "true" }, initials(name)),
    h("div", { class: "person-text" }, h("span", { class: "person-name" }, name, isSelf && badge("You")), h("span", { class: "small soft clip" }, email)),
  );
}

function roleOf(member, page, mayChange) {
  if (member.role === "owner") return badge("Owner", "accent");
  if (!mayChange) return badge(member.role === "admin" ? "Admin" : "Member");
  const options = ROLES.map(([value, text]) => h("option", { value, selected: value === member.role }, text));
  const choice = h("select", { class: "input input-s", id: `role-${member.userId}`, "aria-label": `Role of ${member.name}` }, options);
  choice.addEventListener("change", () => changeRole(member, choice, page));
  return choice;
}

async function changeRole(member, choice, page) {
  const role = choice.value;
  try {
    await api.put(`/orgs/${page.params.organizationId}/members/${member.userId}`, { role });
    toast(`${member.name} is ${role === "admin" ? "an admin" : "a member"} now`, "good");
  } catch (error) {
    toast(error.sentence ?? error.message, "critical");
  }
  await page.reload();
}

function removeButton(member, pending, page) {
  const remove = async () => {
    await api.del(`/orgs/${page.params.organizationId}/members/${member.userId}`);
    await page.reload();
    toast(`${member.name} has been removed`, "good");
  };
  const ask = () =>
    void confirmDialog({
      title: `Remove ${member.name}?`,
      text: `Access ends at once, in every open session. What this person did stays in the audit log.${stays(pending)}`,
      label: "Remove",
      action: remove,
    });
  return button("Remove", { kind: "quiet", size: "s", onClick: ask, "aria-label": `Remove ${member.name}` });
}

/** An invitation is the organization's: whoever was invited may still come. */
function stays(pending) {
  if (pending === 0) return "";
  return ` ${count(pending, "pending invitation")} from this person ${pending === 1 ? "stays" : "stay"} too; cancel what should not hold.`;
}

function invitationCard(invitations, members, page, invite) {
  const text = "A link holds for 7 days. Cancelling makes it useless at once.";
  if (invitations.length === 0) {
    const nobody = { icon: "people", title: "No pending invitations", text: "Whoever you invite gets a letter with a link." };
    return card({ title: "Invitations" }, state({ ...nobody, level: "h3", actions: invite ? [button("Invite somebody", { icon: "plus", onClick: () => void askForAddress(page) })] : [] }));
  }
  return card(
    { title: "Pending invitations", text, flush: true },
    table({
      caption: "Pending invitations",
      rows: invitations,
      columns: [
        { title: "Address", main: true, cell: ({ email }) => h("span", { class: "breakable" }, email) },
        { title: "Role", cell: ({ role }) => badge(role === "admin" ? "Admin" : "Member") },
        { title: "Invited by", cell: ({ invitedBy }) => inviter(invitedBy, members) },
        { title: "Sent", cell: ({ createdAt }) => since(createdAt, ago(createdAt)) },
        { title: "Expires", cell: ({ expiresAt }) => since(expiresAt, ago(expiresAt)) },
        { title: "", align: "end", cell: (one) => cancelButton(one, page) },
      ],
    }),
  );
}

function inviter(sender, members) {
  if (!sender) return h("span", { class: "faint" }, "A deleted account");
  const isMember = members.some(({ userId }) => userId === sender.userId);
  return [h("span", { title: sender.email }, sender.name), !isMember && [" ", badge("No longer a member", "warning")]];
}

function since(instant, text) {
  return h("time", { class: "soft", datetime: instant, title: time(instant) }, text);
}

function cancelButton(invitation, page) {
  const cancel = async () => {
    await api.del(`/orgs/${page.params.organizationId}/invitations/${invitation.id}`);
    await page.reload();
    toast(`The invitation of ${invitation.email} is cancelled`, "good");
  };
  return button("Cancel", { kind: "quiet", size: "s", onClick: cancel, "aria-label": `Cancel the invitation of ${invitation.email}` });
}

function askForAddress(page) {
  return openDialog({
    title: "Invite somebody",
    text: WHAT_ROLES_MAY,
    content: (close) =>
      form({
        fields: [
          field({ label: "Email address", name: "email", type: "email", autocomplete: "off", required: true, placeholder: "dana@example.org" }),
          select({ label: "Role", name: "role", options: ROLES, value: "member" }),
        ],
        actions: [button("Not now", { onClick: () => close() }), button("Send the invitation", { kind: "primary", type: "submit" })],
        onSubmit: async (values) => {
          await api.post(`/orgs/${page.params.organizationId}/invitations`, values);
          close();
          await page.reload();
          toast(`A letter is on its way to ${values.email}`, "good");
        },
      }),
  });
}

/** Accept the invitation of a mailed link. */

import * as api from "../core/api.js";
import { navigate } from "../core/router.js";
import { logOut } from "../core/session.js";
import { me } from "../data/catalog.js";
import { chooseOrganization } from "../data/chosen.js";
import { button } from "../ui/button.js";
import { card } from "../ui/card.js";
import { state } from "../ui/states.js";
import { toast } from "../ui/toast.js";

export const title = "Invitation";

export const load = () => me();

export function view(user, page) {
  return card(
    {},
    state({
      icon: "people",
      tone: "accent",
      level: "h1",
      title: "You are invited",
      text: `Join the organization as ${user.email}.`,
      actions: [
        button("Accept the invitation", { kind: "primary", onClick: () => accept(page.params.token) }),
        button("Use another account", { kind: "quiet", onClick: () => logOut() }),
      ],
    }),
  );
}

async function accept(token) {
  const { orgId, orgName, role } = await api.post(`/orgs/invitations/${encodeURIComponent(token)}/accept`);
  chooseOrganization(orgId);
  toast(`Welcome to ${orgName}. Your role: ${role}.`, "good");
  await navigate("/", { replace: true });
}

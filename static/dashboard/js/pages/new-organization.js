/** Make an organization. */

import * as api from "../core/api.js";
import { navigate } from "../core/router.js";
import { chooseOrganization } from "../data/chosen.js";
import { button, linkButton } from "../ui/button.js";
import { card, pageHead } from "../ui/card.js";
import { field, form } from "../ui/form.js";

export const title = "New organization";

export function view() {
  return [
    pageHead({ title: "New organization", text: "It holds repositories, members and one plan. You will be its owner." }),
    card(
      { class: "card narrow" },
      form({
        fields: [
          field({ label: "Name", name: "name", required: true, autocomplete: "organization" }),
          field({ label: "Short name (optional)", name: "slug", placeholder: "acme", hint: "For addresses: 2 to 48 of a-z, 0-9 and hyphens. Made from the name when left empty." }),
        ],
        actions: [button("Make the organization", { kind: "primary", type: "submit" }), linkButton("Cancel", "/", { kind: "quiet" })],
        onSubmit: create,
      }),
    ),
  ];
}

async function create({ name, slug }) {
  const made = await api.post("/orgs", slug ? { name, slug } : { name });
  chooseOrganization(made.id);
  await navigate("/connect");
}

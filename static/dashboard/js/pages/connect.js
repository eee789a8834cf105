/** Connect a repository. */

import * as api from "../core/api.js";
import { navigate } from "../core/router.js";
import { isAtLeast } from "../data/roles.js";
import { chosenOrganization } from "../data/chosen.js";
import { button, linkButton } from "../ui/button.js";
import { card, pageHead } from "../ui/card.js";
import { field, form, select } from "../ui/form.js";
import { state } from "../ui/states.js";

export const title = "Connect a repository";

export function view(data, page) {
  const open = page.frame.organizations.filter(({ role }) => isAtLeast("admin", role));
  const text = "The first scan starts at once: it reads the code and its history and shows the results as they come.";
  return [pageHead({ title: "Connect a repository", text }), card({ class: "card narrow" }, open.length ? connectForm(open) : notAllowed())];
}

function connectForm(open) {
  const platforms = [["git", "Any git address"], ["codehost1", "Code host 1"], ["codehost2", "Code host 2"]];
  const element = form({
    fields: [
      open.length > 1 ? select({ label: "Organization", name: "orgId", value: chosenOrganization(open).id, options: open.map(({ id, name }) => [id, name]) }) : null,
      field({ label: "Address to clone from", name: "cloneUrl", placeholder: "https://git.example.org/acme/shop.git", autocomplete: "off", hint: "Read-only is enough." }),
      field({ label: "Name", name: "fullName", placeholder: "acme/shop", autocomplete: "off", required: true, hint: "owner/name, as it will be shown here and on the badge." }),
      select({ label: "Where it lives", name: "platform", options: platforms, value: "git", hint: "Pull requests are judged on the code hosts." }),
      field({ label: "Branch (optional)", name: "defaultBranch", autocomplete: "off", hint: "By default the branch that the repository names itself." }),
    ],
    actions: [button("Connect and scan", { kind: "primary", type: "submit" }), linkButton("Cancel", "/", { kind: "quiet" })],
    onSubmit: (values) => connect({ orgId: open[0].id, ...values }),
  });
  const { cloneUrl, fullName } = element.elements;
  cloneUrl.addEventListener("change", () => (fullName.value ||= nameIn(cloneUrl.value)));
  return element;
}

/** owner/name as an address ends with it, or "". */
function nameIn(address) {
  return /([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(address)?.[1] ?? "";
}

async function connect(values) {
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  const made = await api.post("/api/repos", given);
  await navigate(`/repos/${made.id}`);
}

function notAllowed() {
  const text = "Connecting needs the role admin or owner in an organization.";
  return state({ icon: "lock", tone: "accent", title: "This is not open to you", text, actions: [linkButton("Make an organization", "/orgs/new")] });
}

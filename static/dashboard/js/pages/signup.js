/** Open an account. */

import { h } from "../core/dom.js";
import { signUp } from "../core/session.js";
import { button } from "../ui/button.js";
import { card } from "../ui/card.js";
import { field, form } from "../ui/form.js";
import { afterSignIn, providerButtons, waysIn } from "./entrance/ways-in.js";

export const title = "Open an account";

export const load = waysIn;

export function view(available, page) {
  return [
    h("h1", { class: "entrance-head" }, "Open an account"),
    card({}, h("div", { class: "stack" }, providerButtons(available, page), accountForm(page))),
    h("p", { class: "entrance-foot" }, "Already have one? ", h("a", { href: `/login${location.search}` }, "Sign in")),
  ];
}

function accountForm(page) {
  const hint = "At least 8 characters, with an uppercase letter, a lowercase letter and a number.";
  return form({
    fields: [
      field({ label: "Name", name: "name", autocomplete: "name", required: true }),
      field({ label: "Email", name: "email", type: "email", autocomplete: "username", required: true }),
      field({ label: "Password", name: "password", type: "password", autocomplete: "new-password", hint, required: true }),
    ],
    actions: [button("Open the account", { kind: "primary", type: "submit", wide: true })],
    async onSubmit(values) {
      await signUp(values);
      await afterSignIn(page);
    },
  });
}

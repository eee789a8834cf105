/** Sign in with a password or a provider. */

import { h } from "../core/dom.js";
import { logIn } from "../core/session.js";
import { button } from "../ui/button.js";
import { card } from "../ui/card.js";
import { field, form } from "../ui/form.js";
import { afterSignIn, providerButtons, waysIn } from "./entrance/ways-in.js";

export const title = "Sign in";

export const load = waysIn;

export function view(available, page) {
  return [
    h("h1", { class: "entrance-head" }, "Sign in"),
    card({}, h("div", { class: "stack" }, providerButtons(available, page), passwordForm(page))),
    h("p", { class: "entrance-foot" }, "New here? ", h("a", { href: `/signup${location.search}` }, "Open an account")),
  ];
}

function passwordForm(page) {
  return form({
    fields: [
      field({ label: "Email", name: "email", type: "email", autocomplete: "username", required: true }),
      field({ label: "Password", name: "password", type: "password", autocomplete: "current-password", required: true }),
    ],
    actions: [button("Sign in", { kind: "primary", type: "submit", wide: true }), h("a", { class: "small", href: "/forgot-password" }, "Forgot your password?")],
    async onSubmit(values) {
      await logIn(values).catch(explained);
      await afterSignIn(page);
    },
  });
}

function explained(error) {
  if (error.status === 401) error.message = "Email or password is not right.";
  throw error;
}

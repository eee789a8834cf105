/** Set a new password with the token of a mailed link. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { navigate } from "../core/router.js";
import { button } from "../ui/button.js";
import { card } from "../ui/card.js";
import { field, form } from "../ui/form.js";
import { toast } from "../ui/toast.js";

export const title = "Set a new password";

export function view(data, page) {
  return [
    h("h1", { class: "entrance-head" }, "Set a new password"),
    card({}, passwordForm(page.query.get("token") ?? "")),
    h("p", { class: "entrance-foot" }, "The link does not work? ", h("a", { href: "/forgot-password" }, "Ask for a new one")),
  ];
}

function passwordForm(token) {
  const hint = "At least 8 characters, with an uppercase letter, a lowercase letter and a number. You will be signed out everywhere.";
  return form({
    fields: [field({ label: "New password", name: "newPassword", type: "password", autocomplete: "new-password", required: true, hint })],
    actions: [button("Set the password", { kind: "primary", type: "submit", wide: true })],
    async onSubmit({ newPassword }) {
      await api.open("POST", "/auth/reset-password", { token, newPassword });
      toast("The new password is set. Sign in with it.", "good");
      await navigate("/login", { replace: true });
    },
  });
}

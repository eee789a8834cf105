/** Ask for a link to set a new password. */

import * as api from "../core/api.js";
import { fill, h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { card } from "../ui/card.js";
import { field, form } from "../ui/form.js";
import { state } from "../ui/states.js";

export const title = "Forgot your password";

export function view() {
  const place = h("div", null, askForm((answer) => fill(place, sent(answer))));
  return [
    h("h1", { class: "entrance-head" }, "Set a new password"),
    card({}, place),
    h("p", { class: "entrance-foot" }, h("a", { href: "/login" }, "Back to signing in")),
  ];
}

function askForm(onSent) {
  return form({
    fields: [field({ label: "Email", name: "email", type: "email", autocomplete: "username", required: true, hint: "We send a link that works once, for an hour." })],
    actions: [button("Send the link", { kind: "primary", type: "submit", wide: true })],
    onSubmit: async (values) => onSent(await api.open("POST", "/auth/forgot-password", values)),
  });
}

function sent({ message }) {
  return state({ icon: "check", tone: "good", title: "Look into your mail", text: `${message}.` });
}

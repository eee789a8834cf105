/** Signing in again where a session has ended: over the page, which keeps what was typed into it. */

import { logIn } from "../core/session.js";
import { knownPerson } from "../data/catalog.js";
import { button } from "../ui/button.js";
import { openDialog } from "../ui/dialog.js";
import { field, form } from "../ui/form.js";

/** Ask for the password of whoever is on the page. Resolves to whether they are signed in again. */
export async function signInAgain() {
  const person = knownPerson();
  if (!person) return false;
  const isBack = await openDialog({
    title: "Your session has ended",
    text: "Sign in to go on where you are: nothing that you have typed is lost.",
    content: (close) => passwordForm(person, close),
  });
  return isBack === true;
}

function passwordForm({ email }, close) {
  return form({
    fields: [
      field({ label: "Email", name: "email", type: "email", autocomplete: "username", value: email, readonly: true }),
      field({ label: "Password", name: "password", type: "password", autocomplete: "current-password", required: true, autofocus: true }),
    ],
    actions: [
      button("Sign in another way", { kind: "quiet", onClick: () => close(false) }),
      button("Sign in", { kind: "primary", type: "submit" }),
    ],
    async onSubmit(values) {
      await logIn(values).catch(explained);
      close(true);
    },
  });
}

function explained(error) {
  if (error.status === 401) error.message = "password: is not right.";
  throw error;
}

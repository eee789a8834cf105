/** What signing in and signing up share. */

import * as api from "../../core/api.js";
import { h } from "../../core/dom.js";
import { navigate } from "../../core/router.js";
import { isSignedIn } from "../../core/session.js";
import { icon } from "../../ui/icons.js";

const NEXT = "after-sign-in";

/** The providers that are set up here, `[{id, name}]`; who is signed in already goes on to the front page. */
export function waysIn() {
  return isSignedIn() ? navigate("/", { replace: true }) : api.open("GET", "/auth/providers");
}

/** A button for each provider, with a line between them and the form below; nothing when there is none. */
export function providerButtons(available, page) {
  if (!available?.length) return null;
  const links = available.map(({ id, name }) =>
    h("a", { class: "button button-wide", href: `/v1/auth/${id}`, on: { click: () => rememberNext(page) } }, icon("key", 16), `Continue with ${name}`),
  );
  return [h("div", { class: "stack stack-tight" }, links), h("div", { class: "or" }, h("span", null, "or"))];
}

/** Go to where somebody was on their way to when they were asked to sign in. */
export function afterSignIn(page) {
  const next = page.query.get("next") ?? sessionStorage.getItem(NEXT) ?? "/";
  sessionStorage.removeItem(NEXT);
  return navigate(isOurs(next) ? next : "/", { replace: true });
}

function rememberNext(page) {
  if (page.query.get("next")) sessionStorage.setItem(NEXT, page.query.get("next"));
}

/** A link in a mail could carry any address as `next`. */
function isOurs(address) {
  return address.startsWith("/") && new URL(address, location.origin).origin === location.origin;
}

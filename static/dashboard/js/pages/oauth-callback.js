/** Where a provider's sign-in ends: the tokens leave the address at once, the refresh token becomes a cookie. */

import { adopt } from "../core/session.js";
import { card } from "../ui/card.js";
import { linkButton } from "../ui/button.js";
import { state } from "../ui/states.js";
import { afterSignIn } from "./entrance/ways-in.js";

export const title = "Signing in";

const REASONS = {
  access_denied: "You did not agree, or the account is closed.",
  invalid_state: "The sign-in took too long or was begun in another browser. Try again from here.",
  email_unverified: "The provider has not verified your email address. Verify it there, then try again.",
  provider_error: "The provider did not answer as it should. Try again in a moment.",
};

export async function load(page) {
  const refresh = page.query.get("refresh");
  history.replaceState({}, "", "/auth/callback"); // before anything else can read or keep the address
  if (!refresh) return page.query.get("error") ?? "provider_error";
  try {
    await adopt(refresh);
  } catch {
    return "invalid_state";
  }
  return afterSignIn(page);
}

export function view(reason) {
  return card(
    {},
    state({
      icon: "lock",
      tone: "critical",
      level: "h1",
      title: "Not signed in",
      text: REASONS[reason] ?? REASONS.provider_error,
      actions: [linkButton("Back to signing in", "/login", { kind: "primary" })],
    }),
  );
}

/**
 * Who is signed in.
 *
 * The access token lives in a variable of this module and nowhere else. The refresh token is a cookie that no script
 * can read; the browser sends it to the refresh endpoint alone. localStorage holds only the hint that there may be
 * such a cookie, so that visitors are not asked to refresh what they do not have.
 */

import { ApiError } from "./errors.js";
import { exchange } from "./wire.js";

const HINT = "signed-in";
const otherTabs = new BroadcastChannel("session");
const listeners = new Set();

let accessToken = "";
let renewal = null;
let askAgain = async () => false;

/** Whether this tab holds an access token. */
export function isSignedIn() {
  return accessToken !== "";
}

/** The access token for the header of a call; "" before signing in. */
export function token() {
  return accessToken;
}

/** Call `listener()` whenever the session ends, here or in another tab. */
export function onEnd(listener) {
  listeners.add(listener);
}

/**
 * What to do when a session has run out or was ended by the server while somebody is on a page: `ask()` may sign in again
 * and tells whether it did. The page stays meanwhile, with what they have typed into it.
 */
export function onExpiry(ask) {
  askAgain = ask;
}

/** Sign in with address and password. */
export async function logIn({ email, password }) {
  begin(await exchange("POST", "/auth/login", { body: { email, password, refreshCookie: true } }));
}

/** Open an account and sign in to it. */
export async function signUp({ email, password, name }) {
  begin(await exchange("POST", "/auth/signup", { body: { email, password, name, refreshCookie: true } }));
}

/** Trade the refresh token that an OAuth redirect delivered for the cookie, which uses it up at once. */
export async function adopt(refreshToken) {
  begin(await exchange("POST", "/auth/refresh", { body: { refreshToken, refreshCookie: true } }));
}

/** Take up the session of an earlier visit. Resolves to whether there is one. */
export async function restore() {
  if (!localStorage.getItem(HINT)) return false;
  return renew();
}

/**
 * Get a new access token. All callers in this tab share one request, and tabs take turns: a refresh token that is used
 * twice ends its session.
 * @returns {Promise<boolean>} false when the session is over
 */
export function renew() {
  renewal ??= inTurn(renewNow)
    .then((isRenewed) => isRenewed || comeBack()) // not in turn: other tabs need not wait for a person
    .finally(() => {
      renewal = null;
    });
  return renewal;
}

/** End the session on the server and in every tab. */
export async function logOut() {
  const leaving = accessToken;
  end();
  otherTabs.postMessage("ended");
  await exchange("POST", "/auth/logout", { token: leaving, keepalive: true }).catch(() => {
    // Here it has ended already; a session that the server did not hear of runs out by itself.
  });
}

otherTabs.addEventListener("message", () => end());

async function renewNow() {
  try {
    // keepalive: the new cookie must arrive even if the page is left meanwhile, as the old one is used up.
    const answer = await exchange("POST", "/auth/refresh", { body: { refreshCookie: true }, keepalive: true });
    if (isSignedIn() && personOf(answer) !== personOf({ accessToken })) return beginAnew();
    begin(answer);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return false;
  }
}

async function comeBack() {
  if (isSignedIn() && (await askAgain())) return true;
  end();
  return false;
}

/** Somebody else has signed in in another tab: what waits to be sent here was not meant to be sent by them. */
function beginAnew() {
  location.reload();
  return new Promise(() => {});
}

function personOf(answer) {
  const claims = answer.accessToken.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
  return JSON.parse(atob(claims)).sub;
}

function inTurn(action) {
  // Locks exist in secure contexts only (HTTPS and the loopback).
  return navigator.locks ? navigator.locks.request("session-renewal", action) : action();
}

function begin(answer) {
  accessToken = answer.accessToken;
  localStorage.setItem(HINT, "yes");
}

function end() {
  accessToken = "";
  localStorage.removeItem(HINT);
  for (const listener of listeners) listener();
}

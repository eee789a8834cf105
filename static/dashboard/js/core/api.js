/** Calls to the public API as the signed-in person. Every function throws ApiError when the API refuses. */

import { h } from "./dom.js";
import { ApiError } from "./errors.js";
import * as session from "./session.js";
import { exchange, send } from "./wire.js";

const LONGEST_WAIT_SECONDS = 65;

/** Read something. `query` leaves out empty values; a call that is told to slow down waits and asks once more. */
export function get(path, { query, signal } = {}) {
  return patiently(() => call("GET", path, { query, signal }), signal);
}

/** Read something that is to be changed: `{data, version}`. Who gives the version to `put` takes no other change away. */
export async function read(path, { signal } = {}) {
  const response = await call("GET", path, { signal }, send);
  return { data: await response.json(), version: response.headers.get("ETag") };
}

/** Create something, or ask for an action. */
export function post(path, body) {
  return call("POST", path, { body: body ?? {} });
}

/** Change something; ApiError 412 when it is not of that `version` any more. */
export function put(path, body, { version } = {}) {
  return call("PUT", path, { body, version });
}

/** Delete something. */
export function del(path) {
  return call("DELETE", path);
}

/** Fetch a file and hand it to the browser's downloads, under the name that the API gives it. */
export async function download(path, { query } = {}) {
  const response = await call("GET", path, { query }, send);
  const name = /filename="?([^";]+)"?/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "download";
  const address = URL.createObjectURL(await response.blob());
  h("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

/** A call of the public part of the API, for people who are not signed in. */
export function open(method, path, body) {
  return exchange(method, path, { body });
}

async function call(method, path, options, sent = exchange) {
  try {
    return await sent(method, path, { ...options, token: session.token() });
  } catch (error) {
    const isStale = error instanceof ApiError && error.status === 401;
    if (!isStale || !(await session.renew())) throw error;
    return sent(method, path, { ...options, token: session.token() });
  }
}

async function patiently(ask, signal) {
  try {
    return await ask();
  } catch (error) {
    if (error.status !== 429 || error.retryAfter > LONGEST_WAIT_SECONDS) throw error;
    await pause(Math.max(1, error.retryAfter) * 1000, signal);
    return ask();
  }
}

/** Wait; rejects with an AbortError when `signal` fires first. */
export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("The page was left", "AbortError"));
    });
  });
}

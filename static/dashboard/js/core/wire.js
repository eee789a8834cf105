/** One HTTP exchange with the API, without any idea of who is signed in. */

import { ApiError } from "./errors.js";

const BASE = "/v1";

/**
 * Send a request and read its answer.
 * @param {string} method
 * @param {string} path below the API's base, such as `/auth/me`
 * @param {{query?: object, body?: object, version?: string, token?: string, signal?: AbortSignal, keepalive?: boolean}} [options]
 * @returns {Promise<any>} the JSON of the answer, or null where it has none
 * @throws {ApiError}
 */
export async function exchange(method, path, options = {}) {
  const response = await send(method, path, options);
  return response.status === 204 ? null : response.json();
}

/** The answer itself, for what is not JSON. Throws ApiError like `exchange`. */
export async function send(method, path, { query, body, version, token, signal, keepalive } = {}) {
  const response = await reached(`${BASE}${path}${queryText(query)}`, {
    method,
    signal,
    keepalive,
    headers: {
      ...(body ? { "Content-Type": "application/json" } : {}),
      ...(version ? { "If-Match": version } : {}),
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
    },
    body: body ? JSON.stringify(body) : undefined,
  });
  if (!response.ok) throw await refusal(response);
  return response;
}

/** `?a=1&b=2` from the values that are not empty, or "". */
export function queryText(query) {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(given).toString();
  return text ? `?${text}` : "";
}

async function reached(address, options) {
  try {
    return await fetch(address, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, "The service cannot be reached. Check the connection and try again.", { cause: error });
  }
}

async function refusal(response) {
  const body = await response.json().catch(() => ({}));
  const message = body.message ?? `The service answered with status ${response.status}.`;
  return new ApiError(response.status, message, { retryAfter: Number(response.headers.get("Retry-After") ?? 0) });
}

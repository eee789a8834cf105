/** What every page asks for: the person, their organizations, their repositories. Asked once, then remembered. */

import * as api from "../core/api.js";
import * as session from "../core/session.js";

const remembered = new Map();

session.onEnd(() => remembered.clear());

/** The signed-in person: `{id, email, name, provider, ...}`. */
export const me = () => once("/auth/me");

/** Organizations with the person's role in each. */
export const organizations = () => once("/orgs");

/** Repositories of all organizations of the person, with health and its course. */
export const repositories = () => once("/api/repos?include=trend");

/** One repository. ApiError 404 when there is none for this person. */
export const repository = (id) => once(`/api/repos/${encodeURIComponent(id)}`);

/** One organization, with the person's role. ApiError 404 when there is none for this person. */
export async function organization(id) {
  const [detail, all] = await Promise.all([once(`/orgs/${encodeURIComponent(id)}`), organizations()]);
  return { ...detail, role: all.find((one) => one.id === id)?.role };
}

/** Forget what was remembered, after a change: all of it, or the paths that begin with `prefix`. */
export function forget(prefix = "") {
  for (const path of remembered.keys()) if (path.startsWith(prefix)) remembered.delete(path);
}

function once(path) {
  if (!remembered.has(path)) {
    const asked = api.get(path);
    remembered.set(path, asked);
    asked.catch(() => remembered.delete(path));
  }
  return remembered.get(path);
}

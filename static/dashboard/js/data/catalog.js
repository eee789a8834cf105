/**
 * What every page asks for: the person, their organizations, their repositories. Remembered for one visit to a page, so
 * that all parts of it say the same; roles and scores change by other people's hands and by themselves.
 */

import * as api from "../core/api.js";
import * as session from "../core/session.js";
import { onVisit } from "../core/visits.js";

const ME = "/auth/me";
const remembered = new Map();
let person = null;

session.onEnd(() => {
  remembered.clear();
  person = null;
});
onVisit(() => {
  for (const path of remembered.keys()) if (path !== ME) remembered.delete(path);
});

/** The signed-in person, remembered until the session ends: `{id, email, name, provider, ...}`. */
export async function me() {
  person = await once(ME);
  return person;
}

/** That person without asking; null before the first answer. */
export const knownPerson = () => person;

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

function once(path) {
  if (!remembered.has(path)) {
    const asked = api.get(path);
    remembered.set(path, asked);
    asked.catch(() => remembered.delete(path));
  }
  return remembered.get(path);
}

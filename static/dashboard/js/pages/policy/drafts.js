/** Policies that somebody has changed and not saved. They outlive the page: another one may have to be looked at first. */

import { onEnd } from "../../core/session.js";

const drafts = new Map();

onEnd(() => drafts.clear());
addEventListener("beforeunload", (event) => drafts.size > 0 && event.preventDefault());

/** `{policy, version}` as it was left, or undefined. */
export const draftOf = (repositoryId) => drafts.get(repositoryId);

/** Keep a changed policy with the version that it comes from. */
export const keepDraft = (repositoryId, draft) => drafts.set(repositoryId, draft);

/** It is saved, or not wanted any more. */
export const dropDraft = (repositoryId) => drafts.delete(repositoryId);

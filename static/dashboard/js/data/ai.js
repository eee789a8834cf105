/** What the language model can be asked about a repository, and the asking. */

import * as api from "../core/api.js";

/** The operation if it can be used now, `{operation, credits}`, else undefined. */
export async function usable(operation, repositoryId, signal) {
  const { operations } = await api.get(`/api/repos/${repositoryId}/ai`, { signal });
  return operations.find((one) => one.operation === operation && one.usable);
}

/** An explanation of how to repair a violation, and a patch where the model gave one that applies. */
export function suggestFix(repositoryId, violationId) {
  return api.post(`/api/repos/${repositoryId}/violations/${violationId}/ai-fix`);
}

/** The last scan in words. */
export function summarize(repositoryId) {
  return api.post(`/api/repos/${repositoryId}/ai/scan-summary`);
}

/** What shows only when the riskiest files are read together. */
export function lookAcrossFiles(repositoryId) {
  return api.post(`/api/repos/${repositoryId}/ai/cross-file`);
}

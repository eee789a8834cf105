/** Watching runs while they go on. */

import * as api from "../core/api.js";

const POLL_MS = 1500;

/** Whether a run may still change. */
export const isActive = ({ status }) => status === "queued" || status === "running";

/** The newest run of a repository, or undefined. */
export async function latestRun(repositoryId, signal) {
  const { data } = await api.get(`/api/repos/${repositoryId}/runs`, { query: { perPage: 1 }, signal });
  return data[0];
}

/**
 * Call `onChange(run)` with every new state of a run, until it has ended or `signal` fires.
 * @returns {Promise<object>} the run as it ended
 */
export async function watch(run, { signal, onChange }) {
  let current = run;
  while (isActive(current)) {
    await api.pause(POLL_MS, signal);
    current = await api.get(`/api/runs/${run.id}`, { signal });
    onChange(current);
  }
  return current;
}

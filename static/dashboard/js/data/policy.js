/** The writable shape of a policy, and what the API says about changing it. */

import * as api from "../core/api.js";

export const WRITABLE = ["stack", "architecture", "layers", "gates", "exceptions", "data_volumes"];

/** The policy of a repository and its version: `{data, version}`. */
export function read(repositoryId, signal) {
  return api.read(pathOf(repositoryId), { signal });
}

/** Let this policy judge. ApiError 412 when it was changed since `version` was read; without one it is replaced anyway. */
export function save(repositoryId, policy, version) {
  return api.put(pathOf(repositoryId), policy, { version });
}

/** What of a policy that was read may be written: a deep copy. */
export function writable(policy) {
  return structuredClone(Object.fromEntries(WRITABLE.map((name) => [name, policy[name]])));
}

/** Whether two policies in the writable shape say the same. */
export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** A policy as applying a pack would leave it: gates on the same metric give way, exceptions and known sizes stay. */
export function withPack(policy, { policy: said }) {
  const named = Object.fromEntries(Object.entries(said.stack).filter(([, value]) => value));
  return {
    ...policy,
    stack: { ...policy.stack, ...named },
    architecture: said.architecture || policy.architecture,
    layers: said.layers.length ? said.layers : policy.layers,
    gates: { block_merge: withGates(policy.gates.block_merge, said.gates.block_merge), warn: withGates(policy.gates.warn, said.gates.warn) },
    data_volumes: { ...said.data_volumes, ...policy.data_volumes },
  };
}

function withGates(present, added) {
  const metrics = new Set(added.map(({ metric }) => metric));
  return [...present.filter(({ metric }) => !metrics.has(metric)), ...added];
}

/** What the last scan would have found under this policy; persists nothing. */
export function preview(repositoryId, policy) {
  return api.post(`${pathOf(repositoryId)}/preview`, policy);
}

const pathOf = (repositoryId) => `/api/repos/${repositoryId}/policy`;

/** Take back the last change of the policy. */
export function undo(repositoryId) {
  return api.post(`${pathOf(repositoryId)}/undo`);
}

/**
 * Strongly connected components (Tarjan, 1972), without recursion as graphs may be thousands of nodes deep.
 * @param {string[]} ids
 * @param {Map<string, string[]>} targets of each id
 * @returns {Map<string, number>} the number of the component that each id belongs to
 */
export function componentsOf(ids, targets) {
  const state = { next: 0, component: 0, index: new Map(), low: new Map(), stack: [], onStack: new Set(), found: new Map() };
  for (const id of ids) if (!state.index.has(id)) visit(id, targets, state);
  return state.found;
}

function visit(root, targets, state) {
  const path = [enter(root, targets, state)];
  while (path.length) {
    const frame = path.at(-1);
    const target = frame.rest.pop();
    if (target === undefined) {
      path.pop();
      leave(frame.id, path.at(-1)?.id, state);
    } else if (!state.index.has(target)) {
      path.push(enter(target, targets, state));
    } else if (state.onStack.has(target)) {
      state.low.set(frame.id, Math.min(state.low.get(frame.id), state.index.get(target)));
    }
  }
}

function enter(id, targets, state) {
  state.index.set(id, state.next);
  state.low.set(id, state.next);
  state.next += 1;
  state.stack.push(id);
  state.onStack.add(id);
  return { id, rest: [...(targets.get(id) ?? [])] };
}

function leave(id, parent, state) {
  const low = state.low.get(id);
  if (parent !== undefined) state.low.set(parent, Math.min(state.low.get(parent), low));
  if (low !== state.index.get(id)) return;
  let member;
  do {
    member = state.stack.pop();
    state.onStack.delete(member);
    state.found.set(member, state.component);
  } while (member !== id);
  state.component += 1;
}

/** The beginning of a visit to a page, for those who remember or show something only as long as one lasts. */

const listeners = new Set();

/** Call `listener({isNewPage})` when a page is gone to, and (then it is not a new page) when one is asked for again. */
export function onVisit(listener) {
  listeners.add(listener);
}

/** Tell that a visit begins. */
export function beginVisit(visit) {
  for (const listener of listeners) listener(visit);
}

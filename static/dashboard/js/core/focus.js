/** Where the keyboard is when what it was on goes away. */

/** Go to the start of the page's own content. */
export function focusStart() {
  document.querySelector("[data-page-start]")?.focus({ preventScroll: true });
}

/** Back to an element that was busy or covered, unless somebody has moved on; to the page's start when it is gone. */
export function focusAgain(element) {
  if (document.activeElement && document.activeElement !== document.body) return;
  if (element?.isConnected) element.focus({ preventScroll: true });
  else focusStart();
}

import { h } from "../core/dom.js";
import { isAbort } from "../core/errors.js";
import { focusAgain } from "../core/focus.js";
import { icon } from "./icons.js";
import { toast } from "./toast.js";

/**
 * A button. While the promise of its action is open it is busy; a refusal of the API is shown as a toast.
 * @param {string} label
 * @param {{kind?: "primary"|"danger"|"quiet", size?: "s", icon?: string, onClick?: Function, type?: string, wide?: boolean, id?: string}} [options]
 */
export function button(label, { kind, size, icon: name, onClick, type = "button", wide, ...attributes } = {}) {
  const look = { class: wide ? "button button-wide" : "button", data: { kind, size } };
  const element = h("button", { ...look, type, ...attributes }, name && icon(name, 16), label);
  if (onClick) element.addEventListener("click", (event) => whileBusy(element, () => onClick(event)));
  return element;
}

/** A link that looks like a button. */
export function linkButton(label, href, { kind, size, icon: name } = {}) {
  return h("a", { class: "button", href, data: { kind, size } }, name && icon(name, 16), label);
}

/** Run an action with an element disabled and marked as busy. A disabled element loses the keyboard: it gets it back. */
export async function whileBusy(element, action) {
  if (element.disabled) return;
  const hadFocus = document.activeElement === element;
  element.disabled = true;
  element.setAttribute("aria-busy", "true");
  try {
    await action();
  } catch (error) {
    if (!isAbort(error)) toast(error.sentence ?? error.message, "critical");
    if (error.status === undefined && !isAbort(error)) console.error(error);
  } finally {
    element.disabled = false;
    element.removeAttribute("aria-busy");
    if (hadFocus) focusAgain(element);
  }
}

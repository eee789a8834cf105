import { fill, freshId, h } from "../core/dom.js";
import { whileBusy } from "./button.js";
import { icon } from "./icons.js";

/**
 * A form that sends its values to the API. A refusal that names one of its fields stands under that field, any other
 * one above the buttons.
 * @param {{fields: HTMLElement[], actions: HTMLElement[], onSubmit: (values: object) => Promise<any>}} options the
 *   values are by field name; the first action should be a submit button
 */
export function form({ fields, actions, onSubmit }) {
  const problem = h("div", { role: "alert" });
  const element = h("form", { class: "form", novalidate: true }, fields, problem, h("div", { class: "form-actions" }, actions));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    clearErrors(element, problem);
    const submit = element.querySelector("[type=submit]");
    whileBusy(submit, () => submitted(element, problem, onSubmit));
  });
  return element;
}

/**
 * A labelled input.
 * @param {{label: string, name: string, type?: string, hint?: string|Node}} options anything else is an attribute of
 *   the input
 */
export function field({ label, hint, id, type = "text", ...attributes }) {
  return labelled({ label, hint, id }, (ids) => h("input", { class: "input", type, ...ids, ...attributes }));
}

/** A labelled text area. */
export function textArea({ label, hint, value = "", ...attributes }) {
  return labelled({ label, hint }, (ids) => h("textarea", { class: "input", ...ids, ...attributes }, value));
}

/** A labelled choice; `options` are `[value, text]` pairs. */
export function select({ label, hint, id, options, value = "", ...attributes }) {
  return labelled({ label, hint, id }, (ids) => {
    const entries = options.map(([key, text]) => h("option", { value: key, selected: key === value }, text));
    return h("select", { class: "input", ...ids, ...attributes }, entries);
  });
}

/** Show a problem under the field of that name, and go there. False when the form has no such field. */
export function showFieldError(element, name, sentence) {
  const input = element.elements?.namedItem(name) ?? element.querySelector(`[name="${CSS.escape(name)}"]`);
  const place = input?.closest?.(".field")?.querySelector(".field-error");
  if (!place) return false;
  fill(place, icon("alert", 16), sentence);
  input.setAttribute("aria-invalid", "true");
  input.focus();
  return true;
}

function labelled({ label, hint, id = freshId("field") }, control) {
  const [hintId, errorId] = [`${id}-hint`, `${id}-error`];
  const ids = { id, "aria-describedby": hint ? `${hintId} ${errorId}` : errorId };
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    control(ids),
    hint && h("div", { class: "field-hint", id: hintId }, hint),
    h("div", { class: "field-error", id: errorId }),
  );
}

async function submitted(element, problem, onSubmit) {
  try {
    await onSubmit(Object.fromEntries(new FormData(element)));
  } catch (error) {
    if (error.status === undefined) throw error;
    const isShown = error.field && showFieldError(element, error.field, error.sentence);
    if (!isShown) fill(problem, h("div", { class: "note", data: { tone: "critical" } }, icon("alert"), h("div", null, error.sentence)));
  }
}

function clearErrors(element, problem) {
  fill(problem);
  for (const place of element.querySelectorAll(".field-error")) fill(place);
  for (const input of element.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

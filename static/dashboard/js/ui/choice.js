import { h } from "../core/dom.js";

/**
 * One of a few: buttons beside each other, of which one is pressed.
 * @param {{id: string, label: string, options: [string, string][], value: string, onChoose: (value: string) => void}} options
 */
export function choice({ id, label, options, value, onChoose }) {
  const buttons = options.map(([key, text]) =>
    h("button", { type: "button", id: `${id}-${key}`, "aria-pressed": String(key === value), on: { click: () => onChoose(key) } }, text),
  );
  return h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}

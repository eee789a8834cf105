import { h } from "../core/dom.js";
import { icon } from "./icons.js";

const SHOWN_MS = 6000;
const place = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

/** Tell the outcome of an action; tone "good", "critical" or none. It leaves by itself. */
export function toast(message, tone = "") {
  if (!place.isConnected) document.body.append(place);
  const mark = { good: "check", critical: "alert" }[tone];
  const shown = h("div", { class: "toast", data: { tone } }, mark && icon(mark), h("div", null, message));
  place.append(shown);
  setTimeout(() => shown.remove(), SHOWN_MS);
}

import { h } from "../core/dom.js";

/**
 * A bar that is filled by a share of 0 to 1; above 1 it is full.
 * @param {number} share
 * @param {{label: string, said: string, tone?: string}} options what it measures, and its value in words
 */
export function meter(share, { label, said, tone }) {
  const filled = Math.min(1, Math.max(0, share));
  const value = { "aria-valuenow": Math.round(filled * 100), "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuetext": said };
  return h("div", { class: "meter", role: "meter", "aria-label": label, data: { tone }, style: { "--share": `${filled * 100}%` }, ...value }, h("span"));
}

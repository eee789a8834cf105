import { h, svg } from "../core/dom.js";
import { healthOf } from "../data/words.js";

const RADIUS = 42;
const LENGTH = 2 * Math.PI * RADIUS;

/**
 * A health score as a ring with the number in it.
 * @param {number|null} score 0 to 100; null before the first scan
 * @param {number} size pixels
 */
export function healthRing(score, size = 44) {
  const { name, tone } = healthOf(score);
  const label = score === null ? "Not scanned yet" : `Health ${score} of 100: ${name}`;
  const circle = (properties) => svg("circle", { cx: 50, cy: 50, r: RADIUS, fill: "none", "stroke-width": 10, ...properties });
  const filled = circle({ class: "ring-value", "stroke-linecap": "round", transform: "rotate(-90 50 50)", "stroke-dasharray": `${((score ?? 0) / 100) * LENGTH} ${LENGTH}` });
  const picture = svg("svg", { viewBox: "0 0 100 100", width: size, height: size, "aria-hidden": "true" }, circle({ class: "ring-track" }), score ? filled : null);
  const number = h("span", { class: "ring-number", "aria-hidden": "true" }, score ?? "–");
  return h("div", { class: "ring", role: "img", "aria-label": label, data: { tone }, style: { "--size": `${size}px` } }, picture, number);
}

import { svg } from "../core/dom.js";
import { dayNumber, linear } from "./scale.js";

const WIDTH = 112;
const HEIGHT = 32;
const MARGIN = 3;

/**
 * A small line without axes, for tables.
 * @param {{date: string, value: number}[]} points oldest first
 * @param {string} description what the line shows, for those who do not see it
 */
export function sparkline(points, description) {
  const box = { class: "sparkline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": description };
  if (points.length < 2) return svg("svg", box, svg("line", { x1: MARGIN, x2: WIDTH - MARGIN, y1: HEIGHT / 2, y2: HEIGHT / 2, class: "sparkline-none" }));
  const days = points.map(({ date }) => dayNumber(date));
  const values = points.map(({ value }) => value);
  const x = linear([days[0], days.at(-1)], [MARGIN, WIDTH - MARGIN]);
  const y = linear(padded(values), [HEIGHT - MARGIN, MARGIN]);
  const path = points.map(({ value }, index) => `${x(days[index]).toFixed(1)},${y(value).toFixed(1)}`);
  const end = { cx: x(days.at(-1)), cy: y(values.at(-1)), r: 2.5, class: "sparkline-end" };
  const area = `${x(days[0])},${HEIGHT} ${path.join(" ")} ${x(days.at(-1))},${HEIGHT}`;
  return svg("svg", box, svg("polygon", { points: area, class: "sparkline-area" }), svg("polyline", { points: path.join(" "), class: "sparkline-line" }), svg("circle", end));
}

/** At least ten units high: a change of one point must not look like a cliff. */
function padded(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const missing = Math.max(0, 10 - (most - least)) / 2;
  return [least - missing, most + missing];
}

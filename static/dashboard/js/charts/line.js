import { fill, h, svg } from "../core/dom.js";
import { date, day, number } from "../core/format.js";
import { dayNumber, linear, ticks } from "./scale.js";

const MARGIN = { top: 12, right: 12, bottom: 26, left: 44 };

/**
 * Lines over time, with axes, a legend and the values under the pointer (or, with the keyboard, under the arrow keys).
 * @param {{
 *   series: {name: string, color: string, points: {date: string, value: number}[], area?: boolean}[],
 *   description: string, height?: number, format?: (value: number) => string
 * }} options all series share their dates; `color` is a CSS variable such as "--critical"; `description` says in a
 *   sentence what the lines show
 */
export function lineChart({ series, description, height = 240, format = number }) {
  const plot = h("div", { class: "line-plot", tabindex: "0", role: "img", "aria-label": `${description} Arrow keys move through the days.` });
  const tip = h("div", { class: "chart-tip", hidden: true });
  const said = h("div", { class: "only-spoken", "aria-live": "polite" });
  const chart = { series, height, format, plot, tip, said, at: -1 };
  new ResizeObserver(() => draw(chart)).observe(plot);
  plot.addEventListener("pointermove", (event) => point(chart, indexAt(chart, event)));
  plot.addEventListener("pointerleave", () => point(chart, -1));
  plot.addEventListener("blur", () => point(chart, -1));
  plot.addEventListener("keydown", (event) => step(chart, event));
  return h("figure", { class: "line-chart" }, h("div", { class: "line-stage", style: { height: `${height}px` } }, plot, tip), said, legend(series));
}

function draw(chart) {
  const { series, height, format, plot } = chart;
  const width = plot.clientWidth;
  if (!width) return;
  const dates = series[0].points.map((point) => point.date);
  const marks = ticks(Math.max(...series.flatMap(({ points }) => points.map(({ value }) => value))));
  chart.x = linear([dayNumber(dates[0]), dayNumber(dates.at(-1))], [MARGIN.left, width - MARGIN.right]);
  chart.y = linear([0, marks.at(-1)], [height - MARGIN.bottom, MARGIN.top]);
  chart.dates = dates;
  chart.cursor = svg("g", { class: "line-cursor" });
  const box = { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" };
  fill(plot, svg("svg", box, rows(marks, chart, width, format), columns(dates, chart, width, height), series.map((one) => lineOf(one, chart)), chart.cursor));
}

function rows(marks, { y }, width, format) {
  return marks.map((value) => [
    svg("line", { class: value ? "grid-line" : "axis-line", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
    svg("text", { class: "axis-text", x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, format(value)),
  ]);
}

function columns(dates, { x }, width, height) {
  const most = Math.max(2, Math.floor(width / 110));
  const every = Math.max(1, Math.ceil((dates.length - 1) / most));
  return dates
    .filter((_, index) => index % every === 0)
    .map((text, index) => svg("text", { class: "axis-text", x: x(dayNumber(text)), y: height - 6, "text-anchor": index ? (dates.length < 3 ? "end" : "middle") : "start" }, day(text)))
    .filter((label) => Number(label.getAttribute("x")) < width - MARGIN.right - 14 || dates.length < 3);
}

function lineOf({ color, points, area }, { x, y }) {
  const places = points.map((point) => `${x(dayNumber(point.date)).toFixed(1)},${y(point.value).toFixed(1)}`);
  const ends = [x(dayNumber(points[0].date)), x(dayNumber(points.at(-1).date))];
  const style = { "--series": `var(${color})` };
  return [
    area && svg("polygon", { class: "line-area", style, points: `${ends[0]},${y(0)} ${places.join(" ")} ${ends[1]},${y(0)}` }),
    svg("polyline", { class: "line-line", style, points: places.join(" ") }),
    points.length === 1 && svg("circle", { class: "line-dot", style, cx: ends[0], cy: y(points[0].value), r: 3.5 }),
  ];
}

/** Show the values of one day; -1 hides them. */
function point(chart, index) {
  if (index === chart.at || !chart.dates) return;
  chart.at = index;
  chart.tip.hidden = index < 0;
  if (index < 0) return fill(chart.cursor);
  const at = chart.x(dayNumber(chart.dates[index]));
  const dots = chart.series.map(({ color, points }) => svg("circle", { class: "line-dot", style: { "--series": `var(${color})` }, cx: at, cy: chart.y(points[index].value), r: 3.5 }));
  fill(chart.cursor, svg("line", { class: "cursor-line", x1: at, x2: at, y1: MARGIN.top, y2: chart.height - MARGIN.bottom }), dots);
  const lines = chart.series.map(({ name, color, points }) => h("div", { class: "tip-line" }, swatch(color), name, h("b", null, chart.format(points[index].value))));
  fill(chart.tip, h("div", { class: "tip-head" }, date(chart.dates[index])), lines);
  const isRight = at > chart.plot.clientWidth / 2;
  chart.tip.style.transform = `translate(calc(${at}px ${isRight ? "- 100% - 12px" : "+ 12px"}), 8px)`;
}

function indexAt({ plot, dates, x }, event) {
  if (!dates) return -1;
  const place = event.clientX - plot.getBoundingClientRect().left;
  const distances = dates.map((text) => Math.abs(x(dayNumber(text)) - place));
  return distances.indexOf(Math.min(...distances));
}

function step(chart, event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const from = chart.at < 0 ? chart.dates.length - (by > 0 ? 1 : 0) : chart.at;
  const index = Math.min(chart.dates.length - 1, Math.max(0, from + by));
  point(chart, index);
  const values = chart.series.map(({ name, points }) => `${name} ${chart.format(points[index].value)}`);
  fill(chart.said, `${date(chart.dates[index])}: ${values.join(", ")}`);
}

function legend(series) {
  if (series.length < 2) return null;
  return h("figcaption", { class: "legend" }, series.map(({ name, color }) => h("span", { class: "legend-item" }, swatch(color), name)));
}

function swatch(color) {
  return h("span", { class: "swatch", style: { "--series": `var(${color})` } });
}

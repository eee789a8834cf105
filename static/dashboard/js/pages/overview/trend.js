/** The course of violations or debt over the chosen period. */

import { lineChart } from "../../charts/line.js";
import { h } from "../../core/dom.js";
import { date, decimal, number } from "../../core/format.js";
import { CATEGORIES, CATEGORY_NAMES } from "../../data/words.js";
import { card } from "../../ui/card.js";
import { choice } from "../../ui/choice.js";

const PERIODS = [["7d", "7 d"], ["14d", "14 d"], ["30d", "30 d"], ["60d", "60 d"], ["90d", "90 d"]];
const KINDS = [["violations", "Violations"], ["debt", "Debt"], ["categories", "Categories"]];
const CATEGORY_COLORS = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5"];

/** The card with the chart and its two choices, which live in the address. */
export function trendCard({ trends, period }, page) {
  const kind = page.query.get("trend") ?? "violations";
  const choices = [
    choice({ id: "trend-kind", label: "What to show", options: KINDS, value: kind, onChoose: (trend) => page.setQuery({ trend }) }),
    choice({ id: "trend-period", label: "Period", options: PERIODS, value: period, onChoose: (value) => page.setQuery({ period: value }) }),
  ];
  const days = trends.violations;
  const chart = days.length ? chartOf(kind, trends) : h("p", { class: "soft" }, "The first day of this history is today.");
  return card({ title: "Trend", text: days.length ? `Since ${date(days[0].date)}` : null, actions: choices }, chart);
}

function chartOf(kind, trends) {
  if (kind === "debt") return debtChart(trends.debtScores);
  if (kind === "categories") return categoryChart(trends);
  return violationChart(trends.violations);
}

function violationChart(days) {
  const series = (name, color, key, area) => ({ name, color, area, points: days.map((day) => ({ date: day.date, value: day[key] })) });
  const description = `Open violations went from ${number(days[0].total)} to ${number(days.at(-1).total)}, critical ones from ${number(days[0].critical)} to ${number(days.at(-1).critical)}.`;
  return lineChart({ description, series: [series("All", "--series-1", "total", true), series("Warning", "--warning", "warning"), series("Critical", "--critical", "critical")] });
}

function debtChart(scores) {
  const points = scores.map(({ date: day, score }) => ({ date: day, value: score }));
  const description = `Debt points per 1,000 lines went from ${decimal(points[0].value)} to ${decimal(points.at(-1).value)}.`;
  return lineChart({ description, format: decimal, series: [{ name: "Debt points per 1,000 lines", color: "--series-1", area: true, points }] });
}

function categoryChart({ violations, categoryTrends }) {
  const series = CATEGORIES.map((category, index) => ({
    name: CATEGORY_NAMES[category],
    color: CATEGORY_COLORS[index],
    points: violations.map(({ date: day }, at) => ({ date: day, value: categoryTrends[category][at] })),
  }));
  const ends = series.map(({ name, points }) => `${name} ${number(points.at(-1).value)}`);
  return lineChart({ series, description: `Open violations by category, today: ${ends.join(", ")}.` });
}

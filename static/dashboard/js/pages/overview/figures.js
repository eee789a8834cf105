/** The four figures of a repository, each with what it means and how it moved in 30 days. */

import { healthRing } from "../../charts/ring.js";
import { h } from "../../core/dom.js";
import { decimal, number } from "../../core/format.js";
import { healthOf, RISKS } from "../../data/words.js";
import { change } from "../../ui/badge.js";
import { card, stat } from "../../ui/card.js";

const MINUTES_PER_POINT = 10;

const RISK_MEANS = {
  LOW: "Little that could stop production.",
  MEDIUM: "Some findings could hurt under load.",
  HIGH: "Findings that are likely to hurt production.",
  CRITICAL: "Findings that are expected to cause an outage.",
};

/** The row of figures. */
export function figures({ overview, trends, healthTrend }) {
  return h("div", { class: "grid figures" }, health(overview, healthTrend), risk(overview), violations(overview, trends), debt(overview, trends));
}

function health({ healthScore }, trend) {
  const { name } = healthOf(healthScore);
  const moved = trend.length > 1 ? moves(trend.at(-1).healthScore - trend[0].healthScore, "up", trend[0].date) : "of 100; 80 and above is good";
  return card(
    { class: "card figure-health" },
    healthRing(healthScore, 76),
    h("div", { class: "stat" }, h("div", { class: "stat-label" }, "Health"), h("div", { class: "figure-word" }, name), h("div", { class: "stat-note" }, moved)),
  );
}

function risk({ productionRisk }) {
  const { name, tone } = RISKS[productionRisk];
  const value = h("span", { class: "row", data: { tone } }, h("span", { class: "dot" }), name);
  return card({}, stat({ label: "Production risk", value, note: RISK_MEANS[productionRisk] }));
}

function violations({ totalViolations }, { violations: days }) {
  const critical = days.at(-1)?.critical ?? 0;
  const note = [critical ? h("b", null, `${number(critical)} critical`) : "none critical", days.length > 1 && [" · ", moves(totalViolations - days[0].total, "down", days[0].date)]];
  return card({}, stat({ label: "Open violations", value: number(totalViolations), note }));
}

/** As of the last scan, like the other figures; `debtScoreAvg` is the mean of a month. */
function debt({ debtScoreAvg }, { debtScores }) {
  const score = debtScores.at(-1)?.score ?? debtScoreAvg;
  const hours = (score * MINUTES_PER_POINT) / 60;
  const moved = debtScores.length > 1 && [" · ", moves(score - debtScores[0].score, "down", debtScores[0].date)];
  const note = [`about ${decimal(hours)} h of repair`, moved];
  return card({}, stat({ label: "Debt per 1,000 lines", value: decimal(score), unit: "points", note }));
}

function moves(difference, goodWhen, since) {
  const days = Math.round((Date.now() - Date.parse(since)) / 86_400_000);
  return [change(difference, { goodWhen }), h("span", { class: "faint" }, ` in ${days} ${days === 1 ? "day" : "days"}`)];
}

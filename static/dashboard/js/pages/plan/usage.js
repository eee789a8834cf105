/** How much of the plan is used. */

import { h } from "../../core/dom.js";
import { number } from "../../core/format.js";
import { card, note } from "../../ui/card.js";
import { icon } from "../../ui/icons.js";
import { meter } from "../../ui/meter.js";

const CREDITS = "AI credits this month";
const LIMITS = [
  ["repos", "maxRepos", "Repositories"],
  ["members", "maxMembers", "Members"],
  ["credits", "aiCreditsPerMonth", CREDITS],
];

/** A card with one meter for each limit, and what to do about those that are exceeded. */
export function usageCard({ usage, limits, exceeded }, credits) {
  const lines = LIMITS.map(([name, limit, title]) => (name === "credits" ? creditLine(credits) : line(title, usage[name], limits[limit])));
  return card({ title: "Usage" }, h("div", { class: "stack" }, exceeded.length > 0 && tooMuch(exceeded), lines));
}

/** Against what was granted: whoever has a plan without a subscription is granted none of what the plan offers. */
function creditLine({ balance, monthlyAllocation, used }) {
  if (monthlyAllocation !== 0) return line(CREDITS, used, monthlyAllocation);
  return h("div", { class: "row row-between" }, h("span", null, CREDITS), h("span", { class: "number soft" }, `${number(used)} used, ${number(balance)} left`));
}

function line(title, used, limit) {
  const isUnlimited = limit < 0;
  const said = isUnlimited ? `${number(used)} of unlimited` : `${number(used)} of ${number(limit)}`;
  const share = limit === 0 ? Number(used > 0) : used / limit;
  return h(
    "div",
    { class: "use" },
    h("div", { class: "row row-between" }, h("span", null, title), h("span", { class: "number soft" }, said)),
    !isUnlimited && meter(share, { label: title, said, tone: toneOf(share) }),
  );
}

function toneOf(share) {
  if (share > 1) return "critical";
  return share >= 0.9 ? "warning" : "";
}

function tooMuch(exceeded) {
  const names = LIMITS.filter(([, limit]) => exceeded.includes(limit)).map(([, , title]) => title.toLowerCase());
  return note("warning", icon("alert"), `More ${names.join(" and ")} than the plan allows. Everything stays readable; nothing can be added until there is room.`);
}

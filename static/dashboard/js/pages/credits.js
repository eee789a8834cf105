/** AI credits of an organization: what is left, what they went to, and every movement. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { ago, count, date, number, time } from "../core/format.js";
import { OPERATIONS, operationName } from "../data/operations.js";
import { card, grid, pageHead, stat } from "../ui/card.js";
import { select } from "../ui/form.js";
import { meter } from "../ui/meter.js";
import { state } from "../ui/states.js";
import { pager, table } from "../ui/table.js";

const PER_PAGE = 20;
const MONTHS_BACK = 12;

export const title = "Credits";

export async function load({ params, query, signal }) {
  const path = `/credits/org/${params.organizationId}`;
  const page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1);
  const slice = { limit: PER_PAGE, offset: (page - 1) * PER_PAGE, month: query.get("month") };
  const [balance, usage, ledger] = await Promise.all([
    api.get(path, { signal }),
    api.get(`${path}/usage-by-operation`, { query: { month: query.get("month") }, signal }),
    api.get(`${path}/transactions`, { query: slice, signal }),
  ]);
  return { balance, usage, ledger, page };
}

export function view({ balance, usage, ledger, page: number_ }, page) {
  const text = "AI summaries, analyses, fixes and comments take credits. An operation that fails gives them back.";
  return [
    pageHead({ title: "Credits", text }),
    grid("20rem", balanceCard(balance, page), usageCard(usage)),
    ledgerCard(ledger, number_, page),
  ];
}

function balanceCard({ balance, monthlyAllocation, used, resetsAt }, page) {
  if (monthlyAllocation === 0 && balance === 0) return nothingCard(page);
  const isUnlimited = balance < 0;
  const share = isUnlimited ? 0 : balance / Math.max(1, monthlyAllocation);
  const said = isUnlimited ? "Unlimited credits" : `${number(balance)} of ${number(monthlyAllocation)} credits left`;
  return card(
    { title: "Balance" },
    h(
      "div",
      { class: "stack" },
      stat({ label: "Left to use", value: isUnlimited ? "Unlimited" : number(balance), unit: isUnlimited ? "" : `of ${number(monthlyAllocation)} a month`, note: `${count(used, "credit")} used since the last reset` }),
      !isUnlimited && meter(share, { label: "Credits left", said, tone: share < 0.1 ? "critical" : share < 0.25 ? "warning" : "good" }),
      resetsAt && h("p", { class: "small soft" }, `Filled up again ${ago(resetsAt)}, on `, h("time", { datetime: resetsAt, title: time(resetsAt) }, date(resetsAt)), "."),
    ),
  );
}

function nothingCard(page) {
  const { organization } = page.frame;
  const plans = h("a", { class: "button", data: { kind: "primary" }, href: `/orgs/${organization.id}/plan` }, "See the plans");
  const isFree = organization.planId === "free";
  const text = isFree
    ? "The present plan gives no AI credits. Solo and above fill them up each month."
    : "Credits come with a subscription, and this plan was given without one. The operator of this service can give credits too.";
  return card({}, state({ icon: "coins", tone: "accent", title: isFree ? "No credits on this plan" : "No credits yet", text, actions: isFree ? [plans] : [] }));
}

function usageCard({ operations, totalUsed, period }) {
  const month = monthName(period);
  if (totalUsed === 0) return card({ title: `Used in ${month}` }, state({ icon: "spark", title: "Nothing used", text: "What AI operations take in this month shows here.", level: "h3" }));
  const line = ({ operation, creditsUsed, count: times }) => {
    const said = `${count(creditsUsed, "credit")}, ${count(times, "time")}`;
    return h(
      "div",
      { class: "use", style: { "--tone": `var(--series-${OPERATIONS[operation]?.series ?? 5})` } },
      h("div", { class: "row row-between" }, h("span", null, operationName(operation)), h("span", { class: "number soft" }, said)),
      meter(creditsUsed / totalUsed, { label: operationName(operation), said }),
    );
  };
  return card({ title: `Used in ${month}`, text: `${count(totalUsed, "credit")} in all` }, h("div", { class: "stack" }, operations.filter(({ creditsUsed }) => creditsUsed).map(line)));
}

function ledgerCard({ transactions, total }, number_, page) {
  const list = { page: number_, perPage: PER_PAGE, total, totalPages: Math.ceil(total / PER_PAGE) };
  const month = select({ label: "Month", id: "month", name: "month", options: [["", "All months"], ...months()], value: page.query.get("month") ?? "" });
  month.addEventListener("change", (event) => page.setQuery({ month: event.target.value, page: "" }));
  const address = (to) => `${page.path}?${new URLSearchParams({ ...Object.fromEntries(page.query), page: to })}`;
  const rows = total ? [ledgerTable(transactions), pager(list, address, "movements")] : state({ icon: "history", title: "No movements", text: "Grants and use of credits show here.", level: "h3" });
  return card({ title: "Ledger", text: "The sum of all amounts is the balance.", actions: h("div", { class: "filters" }, month), flush: true }, rows);
}

function ledgerTable(rows) {
  return table({
    caption: "Movements of credits",
    rows,
    columns: [
      { title: "What", main: true, cell: ({ description, operation }) => h("div", { class: "two-lines" }, h("span", null, description), h("span", { class: "small faint" }, operationName(operation))) },
      { title: "When", cell: ({ createdAt }) => h("time", { class: "soft", datetime: createdAt, title: time(createdAt) }, ago(createdAt)) },
      { title: "Amount", align: "end", cell: ({ amount }) => h("span", { class: amount > 0 ? "amount-in" : "" }, `${amount > 0 ? "+" : "−"}${number(Math.abs(amount))}`) },
      { title: "Balance", align: "end", cell: ({ balance }) => (balance < 0 ? "Unlimited" : number(balance)) },
    ],
  });
}

function months() {
  const now = new Date();
  return Array.from({ length: MONTHS_BACK }, (_, back) => {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    const key = first.toISOString().slice(0, 7);
    return [key, monthName(key)];
  });
}

function monthName(key) {
  return new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(new Date(`${key}-01T00:00:00Z`));
}

/** All repositories of the person: how healthy each one is and which way it goes. */

import { healthRing } from "../charts/ring.js";
import { sparkline } from "../charts/sparkline.js";
import { h } from "../core/dom.js";
import { ago, count, number, time } from "../core/format.js";
import { repositories } from "../data/catalog.js";
import { isAtLeast } from "../data/roles.js";
import { PLATFORMS } from "../data/words.js";
import { change, riskBadge } from "../ui/badge.js";
import { linkButton } from "../ui/button.js";
import { card, pageHead } from "../ui/card.js";
import { field } from "../ui/form.js";
import { state } from "../ui/states.js";
import { table } from "../ui/table.js";

export const title = "Repositories";

export function load() {
  return repositories();
}

export function view(all, page) {
  const mayConnect = page.frame.organizations.some(({ role }) => isAtLeast("admin", role));
  const connect = linkButton("Connect a repository", "/connect", { kind: "primary", icon: "plus" });
  if (page.frame.organizations.length === 0) return welcome();
  if (all.length === 0) return [pageHead({ title: "Repositories" }), card({}, nothingYet(mayConnect, connect))];
  const list = h("div", null, listOf(all, page));
  return [
    pageHead({ title: "Repositories", text: summary(all), actions: mayConnect ? [connect] : [] }),
    card({ flush: true }, all.length > 6 && finder(all, list, page), list),
  ];
}

function listOf(all, page) {
  return table({
    caption: "Repositories with their health",
    rows: all,
    columns: [
      { title: "Health", cell: ({ healthScore }) => healthRing(healthScore), sort: ({ healthScore }) => healthScore },
      { title: "Repository", main: true, cell: (one) => nameOf(one, page), sort: ({ fullName }) => fullName },
      { title: "Health over 30 days", cell: trendOf, sort: changeOf },
      { title: "Production risk", cell: ({ productionRisk }) => riskBadge(productionRisk) },
      { title: "Violations", align: "end", cell: ({ totalViolations }) => number(totalViolations), sort: ({ totalViolations }) => totalViolations },
      { title: "Last scan", cell: scannedAt, sort: ({ lastScanAt }) => lastScanAt ?? "" },
    ],
  });
}

function nameOf(one, page) {
  const owner = page.frame.organizations.find(({ id }) => id === one.organizationId);
  const several = page.frame.organizations.length > 1;
  return h(
    "div",
    { class: "repository-name" },
    h("a", { href: `/repos/${one.id}` }, one.fullName),
    h("span", { class: "small faint" }, [PLATFORMS[one.platform] ?? one.platform, several && owner?.name].filter(Boolean).join(" · ")),
  );
}

function trendOf(one) {
  const points = one.trend.map(({ date, healthScore }) => ({ date, value: healthScore }));
  const difference = changeOf(one);
  const said = points.length < 2 ? "No history yet" : `Health from ${points[0].value} to ${points.at(-1).value} in 30 days`;
  return h("div", { class: "row trend" }, sparkline(points, said), points.length > 1 && h("span", { class: "small" }, change(difference, { goodWhen: "up" })));
}

function changeOf({ trend }) {
  return trend.length > 1 ? trend.at(-1).healthScore - trend[0].healthScore : 0;
}

function scannedAt({ lastScanAt }) {
  if (!lastScanAt) return h("span", { class: "faint" }, "Not yet");
  return h("time", { datetime: lastScanAt, title: time(lastScanAt), class: "soft" }, ago(lastScanAt));
}

function summary(all) {
  const poor = all.filter(({ healthScore }) => healthScore !== null && healthScore < 60).length;
  const scanned = all.filter(({ healthScore }) => healthScore !== null).length;
  const rest = all.length - scanned;
  return [
    count(all.length, "repository", "repositories"),
    poor ? `${count(poor, "needs", "need")} attention: health below 60` : scanned && "none below a health of 60",
    rest && `${number(rest)} not scanned yet`,
  ].filter(Boolean).join(" · ");
}

function finder(all, list, page) {
  const search = (event) => {
    const words = event.target.value.toLowerCase();
    list.replaceChildren(listOf(all.filter(({ fullName }) => fullName.toLowerCase().includes(words)), page));
  };
  const box = field({ label: "Find a repository", name: "q", type: "search", placeholder: "owner/name" });
  box.addEventListener("input", search);
  return h("div", { class: "finder" }, box);
}

function welcome() {
  return card(
    {},
    state({
      icon: "building",
      tone: "accent",
      level: "h1",
      title: "Begin with an organization",
      text: "Repositories, members and the plan belong to an organization. Make one for yourself or your team, or accept an invitation from a mail.",
      actions: [linkButton("Make an organization", "/orgs/new", { kind: "primary", icon: "plus" })],
    }),
  );
}

function nothingYet(mayConnect, connect) {
  return state({
    icon: "repository",
    tone: "accent",
    title: "No repositories yet",
    text: mayConnect
      ? "Connect one: the first scan reads its history and shows health, risk and hotspots a few minutes later."
      : "Nobody has connected one. Admins and owners of the organization can.",
    actions: mayConnect ? [connect] : [],
  });
}

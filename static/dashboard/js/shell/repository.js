/** The frame of a repository's pages: its name and state, what can be done with it, and its tabs. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { ago, time } from "../core/format.js";
import { navigate } from "../core/router.js";
import { repository as read } from "../data/catalog.js";
import { healthBadge, riskBadge } from "../ui/badge.js";
import { button } from "../ui/button.js";
import { toast } from "../ui/toast.js";
import { app, appFrame } from "./app.js";
import { chooseOrganization } from "../data/chosen.js";
import { insideApp } from "./organization.js";

const TABS = [
  ["overview", "", "Overview"],
  ["violations", "/violations", "Violations"],
  ["hotspots", "/hotspots", "Hotspots"],
  ["architecture", "/architecture", "Architecture"],
  ["prs", "/prs", "Pull requests"],
  ["runs", "/runs", "Runs"],
  ["policy", "/policy", "Policy"],
  ["settings", "/settings", "Settings"],
];

export const repository = {
  async load(page) {
    const [data, one] = await Promise.all([app.load(page), read(page.params.repositoryId)]);
    chooseOrganization(one.organizationId);
    return { ...data, repository: one, organization: data.organizations.find(({ id }) => id === one.organizationId) };
  },

  view(data, page, content) {
    const inner = h("div", { class: "content-inner", "aria-busy": "false" }, head(data.repository), tabs(data.repository, page), content);
    return appFrame(data, page, data.organization, inner);
  },

  whenRefused: (error, page, content) => insideApp(page, content),
};

function head(one) {
  const state = one.lastScanAt
    ? [healthBadge(one.healthScore), h("span", { class: "row small soft" }, "Production risk", riskBadge(one.productionRisk)), scannedAt(one)]
    : [healthBadge(null)];
  return h(
    "header",
    { class: "page-head" },
    h("div", { class: "page-head-text" }, h("h1", { class: "clip" }, one.fullName), h("div", { class: "row" }, state)),
    h("div", { class: "page-actions" }, button("Scan now", { icon: "refresh", id: "scan-now", onClick: () => scan(one) })),
  );
}

function scannedAt(one) {
  return h("time", { class: "small faint", datetime: one.lastScanAt, title: time(one.lastScanAt) }, `Scanned ${ago(one.lastScanAt)}`);
}

async function scan(one) {
  await api.post(`/api/repos/${one.id}/analyze`);
  toast("The scan is queued", "good");
  navigate(`/repos/${one.id}/runs`);
}

function tabs(one, page) {
  const links = TABS.map(([tab, rest, text]) =>
    h("a", { class: "tab", href: `/repos/${one.id}${rest}`, "aria-current": page.tab === tab ? "page" : null }, text),
  );
  const element = h("nav", { class: "tabs", "aria-label": "Repository" }, links);
  // On a narrow screen the current tab may lie outside.
  requestAnimationFrame(() => element.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" }));
  return element;
}

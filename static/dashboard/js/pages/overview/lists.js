/** The riskiest files and the newest verdicts. */

import { bars } from "../../charts/bars.js";
import { h } from "../../core/dom.js";
import { ago, count } from "../../core/format.js";
import { card } from "../../ui/card.js";
import { state } from "../../ui/states.js";
import { judgementBadge } from "../../ui/verdict.js";

const SHOWN = 6;

/** Files whose risk is highest: complex and often changed. */
export function hotspotCard(hotspots, base) {
  const more = h("a", { class: "small", href: `${base}/hotspots` }, "All hotspots");
  const rows = hotspots.filter(({ churnCount }) => churnCount > 0).slice(0, SHOWN).map(({ file, riskScore, churnCount, complexity }) => ({
    name: file.split("/").at(-1),
    note: `${file} · complexity ${complexity} · ${count(churnCount, "change")}`,
    value: riskScore,
    text: String(riskScore),
    href: `${base}/violations?file=${encodeURIComponent(file)}`,
    color: riskColor(riskScore),
  }));
  const text = "Risk from 0 to 100: complex files that change often";
  return card({ title: "Top hotspots", text, actions: more }, rows.length ? bars({ rows, most: 100 }) : nothing());
}

/** Pull requests as the gates judged them. */
export function pullRequestCard(pullRequests, base) {
  if (pullRequests.length === 0) return card({ title: "Recent pull requests" }, noPullRequests());
  const more = h("a", { class: "small", href: `${base}/prs` }, "All pull requests");
  return card({ title: "Recent pull requests", actions: more }, h("ul", { class: "lines" }, pullRequests.slice(0, SHOWN).map((one) => line(one, base))));
}

function line(one, base) {
  const { prNumber, title, author, blockingCount, warningCount, score, date } = one;
  const counts = blockingCount || warningCount ? `${blockingCount} blocking, ${warningCount} warnings` : score === null ? "" : "nothing new";
  const facts = [author, ago(date), counts].filter(Boolean).join(" · ");
  return h(
    "li",
    null,
    h("a", { class: "line", href: `${base}/prs/${prNumber}` }, h("span", { class: "line-text" }, h("span", { class: "clip" }, `#${prNumber} ${title}`), h("span", { class: "small faint clip" }, facts)), judgementBadge(one)),
  );
}

function riskColor(score) {
  return score >= 75 ? "--critical" : score >= 60 ? "--warning" : "--info";
}

function nothing() {
  return state({ icon: "flame", title: "No hotspots", text: "No file is both complex and often changed. That is how it should be." });
}

function noPullRequests() {
  const text = "Once the code host tells of pull requests, each one is judged by the policy and listed here with its verdict.";
  return state({ icon: "branch", title: "No pull requests yet", text });
}

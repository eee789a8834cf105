/** Runs of a repository, the ones that are going on live. */

import { h } from "../core/dom.js";
import { ago, count, duration, time } from "../core/format.js";
import { pageOf } from "../data/pages.js";
import { isActive } from "../data/runs.js";
import { RUN_KINDS } from "../data/words.js";
import { runBadge } from "../ui/badge.js";
import { card } from "../ui/card.js";
import { runProgress } from "../ui/progress.js";
import { state } from "../ui/states.js";
import { pager, table } from "../ui/table.js";

export const title = "Runs";

export function load(page) {
  return pageOf(page, `/api/repos/${page.params.repositoryId}/runs`);
}

export function view(list, page) {
  if (list.total === 0) return card({}, state({ icon: "refresh", title: "No runs yet", text: "A run starts with “Scan now”, a push or a pull request." }));
  const active = list.data.filter(isActive);
  return [
    active.length > 0 && card({ title: "Going on" }, h("div", { class: "stack" }, active.map((run) => progressOf(run, page)))),
    card({ flush: true, title: "All runs" }, tableOf(list.data), list.totalPages > 1 && pager(list, (number) => `${page.path}?page=${number}`, "runs")),
  ];
}

function progressOf(run, page) {
  return runProgress(run, { signal: page.signal, onEnd: () => page.reload() });
}

function tableOf(runs) {
  return table({
    caption: "Runs",
    rows: runs,
    columns: [
      { title: "Run", main: true, cell: nameOf },
      { title: "State", cell: ({ status }) => runBadge(status) },
      { title: "Started", cell: startedAt },
      { title: "Took", align: "end", cell: ({ durationMs }) => (durationMs === null ? "–" : duration(durationMs)) },
      { title: "Files", align: "end", cell: filesOf },
      { title: "Commit", cell: ({ commitSha }) => h("code", { title: commitSha ?? "" }, commitSha?.slice(0, 9) ?? "–") },
    ],
  });
}

function nameOf({ kind, prNumber, error }) {
  const name = prNumber ? `${RUN_KINDS[kind]} #${prNumber}` : RUN_KINDS[kind];
  return h("div", { class: "run-name" }, h("b", null, name), error && h("span", { class: "small run-error" }, error));
}

function startedAt({ queuedAt, startedAt: started }) {
  const at = started ?? queuedAt;
  return h("time", { datetime: at, title: time(at), class: "soft" }, ago(at));
}

function filesOf({ filesAnalyzed, filesFromCache }) {
  return h("span", { title: `${count(filesFromCache, "file")} from the cache` }, filesAnalyzed || "–");
}

/** Scans that are going on: the first one, which the page waits for, and later ones. */

import * as api from "../../core/api.js";
import { h } from "../../core/dom.js";
import { reload } from "../../core/router.js";
import { isActive } from "../../data/runs.js";
import { button } from "../../ui/button.js";
import { card } from "../../ui/card.js";
import { runProgress } from "../../ui/progress.js";
import { state } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";

/** In place of results that are not there yet. */
export function firstScan(run, page) {
  if (!run) return card({}, state({ icon: "repository", title: "Not scanned yet", text: "Start a scan to see how this repository is.", actions: [scanButton(page)] }));
  if (!isActive(run)) return card({}, failed(run, page));
  const text = "The clone is read, every file parsed, the history judged day by day. Large repositories take some minutes; you can leave this page.";
  const progress = runProgress(run, { signal: page.signal, onEnd: showResults });
  return card({}, state({ icon: "refresh", tone: "accent", title: "The first scan is under way", text }), h("div", { class: "first-scan" }, progress));
}

/** Above the results of the scan before. */
export function rescan(run, page) {
  return card({}, runProgress(run, { signal: page.signal, onEnd: showResults }));
}

function showResults(run) {
  if (run.status === "succeeded") toast("The scan is done", "good");
  else toast(`The scan ended: ${run.error ?? run.status}`, "critical");
  reload();
}

function failed(run, page) {
  return state({ icon: "alert", tone: "critical", title: "The scan did not succeed", text: run.error ?? "It was ended before it could finish.", actions: [scanButton(page)] });
}

function scanButton(page) {
  const scan = async () => {
    await api.post(`/api/repos/${page.params.repositoryId}/analyze`);
    await page.reload();
  };
  return button("Scan now", { kind: "primary", icon: "refresh", onClick: scan });
}

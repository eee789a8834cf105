import { fill, h } from "../core/dom.js";
import { isAbort } from "../core/errors.js";
import { count, words } from "../core/format.js";
import { RUN_KINDS } from "../data/words.js";
import { watch } from "../data/runs.js";

/**
 * A run that is going on, live: its phase, a bar, the files read so far.
 * @param {object} run
 * @param {{signal: AbortSignal, onEnd: (run) => void}} options `onEnd` is called when it has ended
 */
export function runProgress(run, { signal, onEnd }) {
  const bar = h("div", { class: "meter", role: "progressbar", "aria-label": "Progress", "aria-valuemin": "0", "aria-valuemax": "100" }, h("span"));
  const text = h("div", { class: "row row-between" });
  const show = (current) => {
    bar.setAttribute("aria-valuenow", current.progress);
    bar.firstChild.style.setProperty("--share", `${Math.max(2, current.progress)}%`);
    fill(text, h("span", null, sentenceOf(current)), h("span", { class: "number soft" }, `${current.progress} %`));
  };
  show(run);
  watch(run, { signal, onChange: show }).then(onEnd, (error) => {
    if (!isAbort(error)) fill(text, error.sentence ?? "The progress cannot be read.");
  });
  return h("div", { class: "stack run-progress" }, text, bar);
}

function sentenceOf({ kind, status, phase, filesAnalyzed }) {
  const name = RUN_KINDS[kind] ?? "Run";
  if (status === "queued") return `${name}: waiting for a free worker`;
  const files = filesAnalyzed ? ` · ${count(filesAnalyzed, "file")}` : "";
  return `${name}: ${words(phase).toLowerCase()}${files}`;
}

/** What the language model can say of a repository as a whole. Nothing is there when it cannot be asked. */

import { fill, h } from "../../core/dom.js";
import { lookAcrossFiles, summarize } from "../../data/ai.js";
import { aiAnswer, aiButton } from "../../ui/ai.js";
import { severityBadge } from "../../ui/badge.js";
import { card } from "../../ui/card.js";
import { prose } from "../../ui/prose.js";

/** Buttons, and a card below them for the last answer. */
export function modelRow(page) {
  const { repositoryId } = page.params;
  const place = h("div");
  const summary = async () => fill(place, card({ title: "Summary" }, aiAnswer({ text: (await summarize(repositoryId)).summary })));
  const across = async () => fill(place, remarks((await lookAcrossFiles(repositoryId)).findings));
  return h(
    "div",
    { class: "model" },
    h(
      "div",
      { class: "row" },
      aiButton({ operation: "ai_scan_summary", label: "Summarize this scan", onAnswer: summary, page }),
      aiButton({ operation: "ai_cross_file", label: "Look across files", onAnswer: across, page }),
    ),
    place,
  );
}

function remarks(findings) {
  const text = findings.length ? "Advice of the language model on the riskiest files, read together. It counts in no score." : "The language model saw nothing across the riskiest files.";
  const line = ({ severity, message, suggestion, file, line: at }) =>
    h("li", null, severityBadge(severity), h("span", { class: "two-lines" }, h("span", null, prose(message)), h("span", { class: "soft" }, suggestion), h("span", { class: "small faint mono clip" }, `${file}:${at}`)));
  return card({ title: "Across files", text }, h("div", { class: "effect-list" }, h("ul", null, findings.map(line))));
}

/** The effect of a draft, asked again a moment after each change. */

import { fill, h } from "../../core/dom.js";
import { preview } from "../../data/policy.js";
import { card } from "../../ui/card.js";
import { effect } from "../../ui/effect.js";
import { icon } from "../../ui/icons.js";

const TYPING_PAUSE_MS = 600;

/**
 * A card that follows a draft.
 * @param {string} repositoryId
 * @param {{signal: AbortSignal, onProblem: (error: Error) => boolean}} options `onProblem` shows a refusal at its
 *   field and tells whether it could
 * @returns {{element: HTMLElement, show: (draft: object|null) => void}} `show(null)` when nothing is changed
 */
export function livePreview(repositoryId, { signal, onProblem }) {
  const body = h("div", { "aria-live": "polite" }, unchanged());
  const element = card({ title: "Effect", text: "What the last scan would have found under this policy." }, body);
  let timer;
  let asked = 0;

  async function ask(draft) {
    asked += 1;
    const turn = asked;
    element.setAttribute("aria-busy", "true");
    const shown = await preview(repositoryId, draft).then(effect, (error) => problem(error, onProblem));
    if (turn !== asked || signal.aborted) return;
    element.removeAttribute("aria-busy");
    fill(body, shown);
  }

  function show(draft) {
    clearTimeout(timer);
    if (draft) {
      timer = setTimeout(() => ask(draft), TYPING_PAUSE_MS);
      return;
    }
    asked += 1;
    element.removeAttribute("aria-busy");
    fill(body, unchanged());
  }

  signal.addEventListener("abort", () => clearTimeout(timer));
  return { element, show };
}

function unchanged() {
  return h("p", { class: "soft" }, "Change something, and its effect appears here. Nothing is saved until you say so.");
}

function problem(error, onProblem) {
  const isPlaced = onProblem(error);
  const text = isPlaced ? "One field needs a correction first." : error.sentence ?? "The effect cannot be shown.";
  return h("p", { class: "row" }, icon("alert", 16), text);
}

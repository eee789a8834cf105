import { fill, h } from "../core/dom.js";
import { isAbort } from "../core/errors.js";
import { count } from "../core/format.js";
import { usable } from "../data/ai.js";
import { button } from "./button.js";
import { icon } from "./icons.js";
import { prose } from "./prose.js";

/**
 * A button that asks the language model. It appears only when the operation is set up, in the plan and paid for.
 * @param {{operation: string, label: string, onAnswer: () => Promise<any>, page: object}} options
 */
export function aiButton({ operation, label, onAnswer, page }) {
  const place = h("span", { class: "ai-button" });
  const offer = usable(operation, page.params.repositoryId, page.signal);
  offer
    .then((found) => found && fill(place, button(`${label} · ${count(found.credits, "credit")}`, { icon: "spark", onClick: onAnswer })))
    .catch((error) => {
      if (!isAbort(error) && error.status === undefined) throw error;
    });
  return place;
}

/** What the model said: paragraphs, and a patch where there is one. It is advice and says so. */
export function aiAnswer({ text, patch }) {
  return h(
    "div",
    { class: "ai-answer", role: "status" },
    h("p", { class: "row small soft" }, icon("spark", 14), "The language model says:"),
    text.split(/\n{2,}/).map((paragraph) => h("p", null, prose(paragraph))),
    patch && h("pre", { class: "code", tabindex: "0", "aria-label": "Suggested patch" }, patch.split("\n").map(patchLine)),
    h("p", { class: "small faint" }, "Advice of a model: look at it before you use it. It counts in no score and no gate."),
  );
}

function patchLine(line) {
  const sort = { "+": "added", "-": "removed" }[line[0]];
  return h("span", { class: "patch-line", data: { sort } }, line || " ");
}

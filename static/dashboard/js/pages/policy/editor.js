/** A policy that is being changed: the form, the live preview beside it, and saving. */

import { fill, h } from "../../core/dom.js";
import { isSame, save, writable } from "../../data/policy.js";
import { button } from "../../ui/button.js";
import { showFieldError } from "../../ui/form.js";
import { toast } from "../../ui/toast.js";
import { backtestButton } from "./backtest.js";
import { askWhose } from "./conflict.js";
import { draftOf, dropDraft, keepDraft } from "./drafts.js";
import { asFile } from "./file.js";
import { livePreview } from "./live.js";
import { sections } from "./sections.js";

/** The whole editor, with what was left unsaved. Without `maySave` changes can be tried and not saved. */
export function editor({ policy, version, maySave }, page) {
  const { repositoryId } = page.params;
  const saved = writable(policy);
  const left = draftOf(repositoryId);
  const draft = structuredClone(left?.policy ?? saved);
  let base = left?.version ?? version;
  const form = h("form", { class: "policy-form", novalidate: true, on: { submit: (event) => event.preventDefault() } });
  const bar = h("div", { class: "save-bar", hidden: true, role: "status" });
  const file = h("div");
  const live = livePreview(repositoryId, { signal: page.signal, onProblem: (error) => showProblem(form, error) });

  const changed = () => {
    clearProblems(form);
    const isDirty = !isSame(draft, saved);
    bar.hidden = !isDirty;
    if (isDirty) keepDraft(repositoryId, { policy: draft, version: base });
    else dropDraft(repositoryId);
    fill(file, asFile(draft));
    live.show(isDirty ? draft : null);
  };
  const discard = () => {
    base = version;
    Object.assign(draft, structuredClone(saved));
    fill(form, sections(draft, changed));
    changed();
  };
  const store = async (seen) => {
    await save(repositoryId, draft, seen);
    dropDraft(repositoryId);
    await page.reload();
    toast("The policy is saved and judges from now on", "good");
  };
  const showSaved = () => {
    dropDraft(repositoryId);
    return page.reload();
  };
  const saveDraft = async () => {
    try {
      await store(base);
    } catch (error) {
      if (error.status === 412) void askWhose({ onMine: () => store(), onTheirs: showSaved });
      else if (!showFieldError(form, error.field, error.sentence)) throw error;
    }
  };

  fill(form, sections(draft, changed));
  fill(bar, h("strong", null, "Unsaved changes"), h("span", { class: "row" }, button("Discard", { kind: "quiet", onClick: discard }), maySave && button("Save the policy", { kind: "primary", onClick: saveDraft })));
  fill(file, asFile(draft));
  if (left) changed();
  const side = h("div", { class: "policy-side" }, live.element, backtestButton(repositoryId, () => draft), file);
  return h("div", { class: "policy" }, h("div", { class: "stack" }, form, bar), side);
}

/** While somebody types a problem is shown where it is, without moving the focus there. */
function showProblem(form, error) {
  const focused = document.activeElement;
  const isPlaced = error.field && showFieldError(form, error.field, error.sentence);
  if (isPlaced) focused?.focus();
  return isPlaced;
}

function clearProblems(form) {
  for (const place of form.querySelectorAll(".field-error")) fill(place);
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

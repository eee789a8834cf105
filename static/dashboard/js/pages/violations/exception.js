/** Write an exception into the policy: this rule is accepted in these files until that day, for this reason. */

import * as api from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { count } from "../../core/format.js";
import { read, save, writable } from "../../data/policy.js";
import { button } from "../../ui/button.js";
import { openDialog } from "../../ui/dialog.js";
import { field, form, select, textArea } from "../../ui/form.js";
import { toast } from "../../ui/toast.js";

const DEFAULT_DAYS = 90;

/** Open the dialog for a violation. Afterwards the page shows what is still open. */
export async function askForException(violation, page) {
  const made = await openDialog({
    title: "Make an exception",
    text: `Findings of ${violation.ruleId} in these files are accepted: they leave counts, scores and gates, and return on the day it ends.`,
    content: (close) => exceptionForm(violation, page, close),
  });
  if (!made) return;
  toast("The exception is in the policy", "good");
  await page.reload();
}

function exceptionForm(violation, page, close) {
  const effect = h("p", { class: "small soft", role: "status" });
  const element = form({
    fields: [
      select({ label: "Where", name: "file", options: places(violation.file) }),
      field({ label: "Until", name: "expires", type: "date", value: inDays(DEFAULT_DAYS), min: inDays(1), required: true }),
      textArea({ label: "Reason", name: "reason", required: true, maxlength: 500, hint: "Shown in pull request comments." }),
      effect,
    ],
    actions: [button("Cancel", { onClick: () => close(false) }), button("Make the exception", { kind: "primary", type: "submit" })],
    async onSubmit(values) {
      await addToPolicy({ rule: violation.ruleId, ...values }, page);
      close(true);
    },
  });
  const preview = () => showEffect(effect, { rule: violation.ruleId, ...Object.fromEntries(new FormData(element)), reason: "preview" }, page);
  element.addEventListener("change", preview);
  preview();
  return element;
}

async function addToPolicy(exception, page) {
  const { data, version } = await read(page.params.repositoryId);
  const policy = writable(data);
  await save(page.params.repositoryId, { ...policy, exceptions: [...policy.exceptions, exception] }, version);
}

async function showEffect(place, exception, page) {
  const path = `/api/repos/${page.params.repositoryId}/policy`;
  try {
    const { exceptions } = await api.get(path, { signal: page.signal });
    const { current, preview } = await api.post(`${path}/preview`, { exceptions: [...exceptions, exception] });
    const hidden = current.totalViolations - preview.totalViolations;
    fill(place, `Accepts ${count(hidden, "finding")}; health ${current.healthScore} → ${preview.healthScore}.`);
  } catch (error) {
    fill(place, error.sentence ?? "");
  }
}

function places(file) {
  const folders = file.split("/").slice(0, -1).map((_, index, parts) => parts.slice(0, index + 1).join("/")).reverse();
  return [[globOf(file), `This file: ${file}`], ...folders.map((folder) => [`${globOf(folder)}/**`, `Everything below ${folder}/`]), ["**", "The whole repository"]];
}

/** The glob that means one path and nothing else: `app/[id]/page.tsx` is a name, and `setup.py` is not meant at any depth. */
function globOf(path) {
  const literal = path.replaceAll(/[\\*?[\]]/g, (sign) => `\\${sign}`);
  return path.includes("/") ? literal.replace(/^[!#]/, (sign) => `\\${sign}`) : `/${literal}`;
}

function inDays(days) {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

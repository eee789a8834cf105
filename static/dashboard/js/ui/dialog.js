import { fill, freshId, h } from "../core/dom.js";
import { focusAgain } from "../core/focus.js";
import { onVisit } from "../core/visits.js";
import { button } from "./button.js";
import { note } from "./card.js";
import { icon } from "./icons.js";

onVisit(({ isNewPage }) => {
  if (isNewPage) for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
});

/**
 * A modal dialog. A button that opens one does so with `onClick: () => void openDialog(...)`: its action is over then,
 * and the focus comes back to it. `content(close)` makes what stands under its heading. It leaves with Escape, by `close`,
 * or with the page that it stands on.
 * @returns {Promise<any>} what `close(value)` was given; undefined when it was dismissed
 */
export function openDialog({ title, text, content }) {
  return new Promise((resolve) => {
    const id = freshId("dialog");
    const opener = document.activeElement;
    const close = (value) => {
      dialog.returned = value;
      dialog.close();
    };
    const head = h("div", { class: "dialog-head" }, h("h2", { id }, title), text && h("p", null, text));
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": id }, h("div", { class: "dialog-body" }, head, content(close)));
    dialog.addEventListener("close", () => {
      dialog.remove();
      focusAgain(opener);
      resolve(dialog.returned);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Ask before something that cannot be taken back. Runs `action` while the dialog is open; resolves to whether it ran. A
 * refusal stands in the dialog, which covers toasts.
 */
export function confirmDialog({ title, text, label, action, kind = "danger" }) {
  return openDialog({
    title,
    text,
    content: (close) => {
      const problem = h("div", { role: "alert" });
      const act = async () => {
        fill(problem);
        try {
          await action();
        } catch (error) {
          if (error.status === undefined) throw error;
          fill(problem, note("critical", icon("alert"), error.sentence));
          return;
        }
        close(true);
      };
      const actions = h("div", { class: "form-actions" }, button("Cancel", { onClick: () => close(false) }), button(label, { kind, onClick: act }));
      return h("div", { class: "form" }, problem, actions);
    },
  });
}

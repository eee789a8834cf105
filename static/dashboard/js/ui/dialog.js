import { freshId, h } from "../core/dom.js";
import { button } from "./button.js";

/**
 * A modal dialog. A button that opens one does so with `onClick: () => void openDialog(...)`: its action is over then,
 * and the focus comes back to it. `content(close)` makes what stands under its heading. It leaves with Escape, or by `close`.
 * @returns {Promise<any>} what `close(value)` was given; undefined when it was dismissed
 */
export function openDialog({ title, text, content }) {
  return new Promise((resolve) => {
    const id = freshId("dialog");
    const close = (value) => {
      dialog.returned = value;
      dialog.close();
    };
    const head = h("div", { class: "dialog-head" }, h("h2", { id }, title), text && h("p", null, text));
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": id }, h("div", { class: "dialog-body" }, head, content(close)));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returned);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Ask before something that cannot be taken back. Runs `action` while the dialog is open; resolves to whether it ran. */
export function confirmDialog({ title, text, label, action, kind = "danger" }) {
  return openDialog({
    title,
    text,
    content: (close) => {
      const act = async () => {
        await action();
        close(true);
      };
      return h("div", { class: "form-actions" }, button("Cancel", { onClick: () => close(false) }), button(label, { kind, onClick: act }));
    },
  });
}

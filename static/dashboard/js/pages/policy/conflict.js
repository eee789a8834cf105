/** Two people changed the policy: whose change is to hold. */

import { h } from "../../core/dom.js";
import { button } from "../../ui/button.js";
import { openDialog } from "../../ui/dialog.js";

/**
 * Ask somebody whose draft comes from a policy that another person has changed meanwhile. Dismissed, the draft stays.
 * @param {{onMine: () => Promise<any>, onTheirs: () => Promise<any>}} options what to do with either answer
 */
export function askWhose({ onMine, onTheirs }) {
  return openDialog({
    title: "Somebody else has changed the policy",
    text: "It says something else than when you opened this page, and nothing of yours is saved yet. Saving yours over it takes their change away; showing theirs discards yours.",
    content: (close) => {
      const choice = (label, kind, act) => button(label, { kind, onClick: () => (close(), act()) });
      return h(
        "div",
        { class: "form-actions" },
        button("Keep editing", { onClick: () => close() }),
        choice("Show theirs", undefined, onTheirs),
        choice("Save mine over it", "danger", onMine),
      );
    },
  });
}

/** Put a pack into a repository's policy, after a look at what that does. */

import * as api from "../../core/api.js";
import { fill, h } from "../../core/dom.js";
import { navigate } from "../../core/router.js";
import { preview, withPack, writable } from "../../data/policy.js";
import { button } from "../../ui/button.js";
import { openDialog } from "../../ui/dialog.js";
import { effect } from "../../ui/effect.js";
import { form, select } from "../../ui/form.js";
import { block } from "../../ui/states.js";
import { toast } from "../../ui/toast.js";

/** Ask which repository, show the effect, apply. */
export function askForRepository(pack, repositories) {
  return openDialog({
    title: `Apply ${pack.title}`,
    text: "Layers and gates of the pack replace the present ones. It can be undone on the policy page.",
    content: (close) => choice(pack, repositories, close),
  });
}

function choice(pack, repositories, close) {
  const outcome = h("div", { "aria-live": "polite" });
  const which = select({ label: "Repository", name: "repositoryId", options: repositories.map(({ id, fullName }) => [id, fullName]) });
  const show = () => showEffect(outcome, pack, which.querySelector("select").value);
  which.addEventListener("change", show);
  show();
  return form({
    fields: [which, outcome],
    actions: [button("Cancel", { onClick: () => close() }), button("Apply the pack", { kind: "primary", type: "submit" })],
    onSubmit: async ({ repositoryId }) => {
      await api.post(`/api/repos/${repositoryId}/apply-pack`, { packName: pack.name });
      close();
      await navigate(`/repos/${repositoryId}/policy`);
      toast(`${pack.title} is applied`, "good");
    },
  });
}

async function showEffect(place, pack, repositoryId) {
  fill(place, block("100%", "6rem"));
  try {
    const present = writable(await api.get(`/api/repos/${repositoryId}/policy`));
    fill(place, effect(await preview(repositoryId, withPack(present, pack))));
  } catch (error) {
    fill(place, h("p", { class: "small soft" }, error.sentence ?? "The effect cannot be shown."));
  }
}

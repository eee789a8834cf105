/** The badge of a repository, and disconnecting it. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { date } from "../core/format.js";
import { navigate } from "../core/router.js";
import { isAtLeast } from "../data/roles.js";
import { PLATFORMS } from "../data/words.js";
import { button } from "../ui/button.js";
import { card } from "../ui/card.js";
import { confirmDialog } from "../ui/dialog.js";
import { toast } from "../ui/toast.js";

export const title = "Settings";

export function view(data, page) {
  const { repository, organization } = page.frame;
  return [about(repository, organization), badgeCard(repository), isAtLeast("admin", organization.role) && disconnectCard(repository)];
}

function about({ platform, lastScanAt, id }, organization) {
  const entry = (term, value) => h("div", null, h("dt", null, term), h("dd", null, value));
  return card(
    { title: "About" },
    h("dl", { class: "facts" }, entry("Organization", organization.name), entry("Lives on", PLATFORMS[platform] ?? platform), entry("Last scan", lastScanAt ? date(lastScanAt) : "not yet"), entry("Id", h("span", { class: "mono" }, id))),
  );
}

function badgeCard({ fullName }) {
  const address = `${location.origin}/v1/badge/${fullName}`;
  const text = `[![Health](${address})](${location.origin})`;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    toast("Copied", "good");
  };
  return card(
    { title: "Badge", text: "For a README; it follows the health of the default branch. On the plan Solo and above." },
    h("div", { class: "stack" }, h("img", { class: "badge-picture", src: `/v1/badge/${fullName}`, alt: `Health badge of ${fullName}` }), h("div", { class: "row" }, h("code", { class: "clip badge-code" }, text), button("Copy", { size: "s", icon: "copy", onClick: copy }))),
  );
}

function disconnectCard(repository) {
  const disconnect = async () => {
    await api.del(`/api/repos/${repository.id}`);
    toast(`${repository.fullName} is disconnected`, "good");
    await navigate("/");
  };
  const ask = () =>
    void confirmDialog({
      title: `Disconnect ${repository.fullName}?`,
      text: "Its results, their history and the clone are deleted. The repository itself is not touched. This cannot be taken back.",
      label: "Disconnect and delete",
      action: disconnect,
    });
  return card({ title: "Disconnect" }, h("div", { class: "row row-between" }, h("p", { class: "soft" }, "Deletes all results of this repository."), button("Disconnect", { kind: "danger", onClick: ask })));
}

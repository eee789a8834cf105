/** The frame of an organization's pages. `page.frame.organization` carries the person's `role` in it. */

import { h } from "../core/dom.js";
import { organization as read } from "../data/catalog.js";
import { app, appFrame } from "./app.js";
import { chosenOrganization, chooseOrganization } from "../data/chosen.js";

export const organization = {
  async load(page) {
    const [data, one] = await Promise.all([app.load(page), read(page.params.organizationId)]);
    chooseOrganization(one.id);
    return { ...data, organization: one };
  },

  view(data, page, content) {
    return appFrame(data, page, data.organization, h("div", { class: "content-inner", "aria-busy": "false" }, content));
  },

  whenRefused: (error, page, content) => insideApp(page, content),
};

/** The plain signed-in frame, where what a frame is about was refused. */
export async function insideApp(page, content) {
  const data = await app.load(page);
  return appFrame(data, page, chosenOrganization(data.organizations), h("div", { class: "content-inner" }, content));
}

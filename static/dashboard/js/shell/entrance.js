/** The bare frame of signing in and up: the mark and one narrow column. */

import { h } from "../core/dom.js";
import { mark } from "./brand.js";

export const entrance = {
  load() {
    return {};
  },
  view(data, page, content) {
    const card = h("div", { class: "entrance-card", "aria-busy": "false" }, mark(), content);
    return h("main", { class: "entrance", tabindex: "-1", "data-page-start": true }, card);
  },
  whenRefused(error, page, content) {
    return this.view({}, page, content);
  },
};

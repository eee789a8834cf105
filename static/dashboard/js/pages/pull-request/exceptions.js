/** Exceptions of the policy that this verdict used, or that were over by then. */

import { h } from "../../core/dom.js";
import { count, date } from "../../core/format.js";
import { badge } from "../../ui/badge.js";
import { card } from "../../ui/card.js";

/** A card that quotes each exception with its reason. */
export function exceptionCard(exceptions) {
  return card({ title: "Exceptions" }, h("ul", { class: "exceptions" }, exceptions.map(line)));
}

function line({ rule, file, reason, expires, expired, covered }) {
  const until = expired ? badge(`Over since ${date(expires)}`, "warning") : badge(`Until ${date(expires)}`);
  return h(
    "li",
    null,
    h("blockquote", null, reason),
    h("div", { class: "row small soft" }, h("code", null, rule), "in", h("code", null, file), until, !expired && h("span", null, `covers ${count(covered, "finding")}`)),
  );
}

import { h } from "../core/dom.js";

/**
 * Horizontal bars, each a link: `rows` are `{name, value, text, href, color, note}`, with `text` as the written value.
 * @param {{rows: object[], most?: number}} options `most` is the value of a full bar; by default the highest
 */
export function bars({ rows, most = Math.max(1, ...rows.map(({ value }) => value)) }) {
  return h("ul", { class: "bars" }, rows.map((row) => h("li", null, bar(row, most))));
}

function bar({ name, value, text, href, color, note }, most) {
  const share = { "--share": `${(100 * value) / most}%`, "--tone": `var(${color})` };
  return h(
    "a",
    { class: "bar", href },
    h("span", { class: "bar-name" }, h("span", { class: "clip" }, name), note && h("span", { class: "small faint clip" }, note)),
    h("span", { class: "bar-value" }, text),
    h("span", { class: "meter", "aria-hidden": "true" }, h("span", { style: share })),
  );
}

import { h } from "../core/dom.js";

const iconAddress = document.querySelector("link[rel=icon]").href;

/** The product's mark alone, for the entrance. */
export function mark() {
  return h("div", { class: "entrance-head" }, h("img", { src: iconAddress, alt: "" }));
}

/** The mark with the name, leading home. */
export function brand() {
  return h("a", { class: "brand", href: "/" }, h("img", { src: iconAddress, alt: "" }), "Technical debt");
}

import { h } from "../core/dom.js";

/**
 * A menu that opens from a face, made of `<details>`: it works with the keyboard by itself. Escape, a click outside
 * and a chosen item close it.
 * @param {{face: Node|Node[], label: string, from?: "top"|"bottom", align?: "end", items: (Node|null)[]}} options `from`
 *   "bottom" lets the list stand above its face, `align` "end" keeps it within the right edge
 */
export function menu({ face, label, from = "top", align, items }) {
  const list = h("div", { class: "menu-list", data: { from, align } }, items);
  const element = h("details", { class: "menu" }, h("summary", { class: "menu-face", "aria-label": label }, face), list);
  const close = () => element.removeAttribute("open");
  list.addEventListener("click", close);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    close();
    element.firstChild.focus();
  });
  element.addEventListener("toggle", () => {
    const away = (event) => !element.contains(event.target) && close();
    if (element.open) document.addEventListener("pointerdown", away, { once: true });
  });
  return element;
}

/** An entry that goes somewhere, or does something. */
export function menuItem(children, { href, onClick, current } = {}) {
  const common = { class: "menu-item", "aria-current": current ? "true" : null };
  return href ? h("a", { ...common, href }, children) : h("button", { ...common, type: "button", on: { click: onClick } }, children);
}

/** The whole rendering layer: functions that make elements. Nothing here ever parses HTML from text. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element: `h("a", {class: "tab", href: "/"}, "Overview")`.
 *
 * Properties are attributes, except `on` (listeners by event), `style` (CSS properties) and `data` (data attributes).
 * Attributes that are null, undefined or false are left out, and true is the empty attribute.
 * @param {string} tag
 * @param {object} [properties]
 * @param {...(Node|string|number|Array|null|false)} children
 * @returns {HTMLElement}
 */
export function h(tag, properties, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** An SVG element, made like an HTML one. */
export function svg(tag, properties, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

/** Replace everything in an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(isShown));
  return element;
}

/** Text that only screen readers speak. */
export function spoken(text) {
  return h("span", { class: "only-spoken" }, text);
}

/** An id that no other element has. */
export function freshId(prefix) {
  serial += 1;
  return `${prefix}-${serial}`;
}

let serial = 0;

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) set(element, name, value);
  element.append(...children.flat(Infinity).filter(isShown));
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "on") {
    for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
  } else if (name === "style") {
    for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
  } else if (name === "data") {
    for (const [key, text] of Object.entries(value)) set(element, `data-${key}`, text);
  } else {
    element.setAttribute(name, value === true ? "" : value);
  }
}

function isShown(child) {
  return child !== null && child !== undefined && child !== false && child !== "";
}

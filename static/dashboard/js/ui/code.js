import { h, spoken } from "../core/dom.js";

/**
 * Lines of a file with their numbers, one of them marked.
 * @param {{startLine: number, highlight: number, lines: string[], file: string}} source
 */
export function codeLines({ startLine, highlight, lines, file }) {
  const rows = lines.map((text, index) => {
    const number = startLine + index;
    const isMarked = number === highlight;
    return h(
      "div",
      { class: "code-line", "data-marked": isMarked },
      h("span", { class: "code-number", "aria-hidden": "true" }, number),
      h("span", { class: "code-text" }, isMarked && spoken("This line: "), text || " "),
    );
  });
  return h("div", { class: "code", tabindex: "0", role: "region", "aria-label": `${file}, lines ${startLine} to ${startLine + lines.length - 1}` }, h("div", { class: "code-lines" }, rows));
}

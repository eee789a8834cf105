/** Boxes and lines for the canvas. */

import { layered } from "../../charts/layered.js";
import { count } from "../../core/format.js";

const HEIGHT = 48;
const WIDTH = { least: 120, most: 230, perLetter: 7.6, perSmallLetter: 5.8, room: 34 };

/** What is drawn of a level; `kind` "violations" or "cycles" leaves only such imports and what they touch. */
export function picture({ nodes, edges }, kind) {
  const kept = edges.filter(({ isViolation, isCircular }) => (kind === "violations" ? isViolation : kind === "cycles" ? isCircular : true));
  const touched = new Set(kept.flatMap(({ source, target }) => [source, target]));
  const boxes = nodes.filter(({ id }) => !kind || touched.has(id)).map(boxOf);
  const places = layered(boxes, kept);
  return { nodes: boxes.map((box) => ({ ...box, ...places.get(box.id) })), edges: kept };
}

function boxOf({ id, label, files, violations, isGhost, isHotspot, color }) {
  const parts = [isGhost ? "another module" : files && count(files, "file"), violations && count(violations, "violation"), isHotspot && "hotspot"];
  const note = parts.filter(Boolean).join(" · ") || "no violations";
  const letters = Math.max(label.length * WIDTH.perLetter, note.length * WIDTH.perSmallLetter);
  const width = Math.min(WIDTH.most, Math.max(WIDTH.least, letters + WIDTH.room));
  return { id, label, note, width, height: HEIGHT, isGhost, isBad: isHotspot, color };
}

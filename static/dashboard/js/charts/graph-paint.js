/** Painting a graph on its canvas, in the colours of the theme. */

const RADIUS = 7;
const LEGIBLE = 0.35;

/** Paint everything. What neither is nor touches the chosen or hovered node steps back. */
export function paintGraph(view) {
  const { canvas, x, y, scale } = view;
  const ratio = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const paper = canvas.getContext("2d");
  const colors = colorsOf(canvas);
  const focus = view.hovered || view.chosen;
  const near = nearTo(focus, view.edges);
  paper.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
  for (const edge of byWeight(view.edges, focus)) paintEdge(paper, edge, view.boxes, colors, focus);
  paper.globalAlpha = 1;
  for (const node of view.nodes) paintNode(paper, node, colors, { isFocus: node.id === focus, isBack: focus && !near.has(node.id), scale });
}

function colorsOf(canvas) {
  const style = getComputedStyle(canvas);
  const names = ["surface", "line-strong", "text", "soft", "faint", "accent", "critical", "warning", "critical-soft", "sunken"];
  return Object.fromEntries([...names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]), ["font", style.getPropertyValue("--font")]]);
}

function nearTo(focus, edges) {
  const near = new Set([focus]);
  for (const { source, target } of edges) {
    if (source === focus) near.add(target);
    if (target === focus) near.add(source);
  }
  return near;
}

/** What matters is painted last, on top. */
function byWeight(edges, focus) {
  const weight = ({ source, target, isViolation, isCircular }) => (source === focus || target === focus ? 4 : 0) + (isViolation ? 2 : 0) + (isCircular ? 1 : 0);
  return [...edges].sort((a, b) => weight(a) - weight(b));
}

function paintEdge(paper, edge, boxes, colors, focus) {
  const [from, to] = [boxes.get(edge.source), boxes.get(edge.target)];
  if (!from || !to || from === to) return;
  const isNear = edge.source === focus || edge.target === focus;
  const isMarked = edge.isViolation || edge.isCircular;
  paper.strokeStyle = edge.isViolation ? colors.critical : edge.isCircular ? colors.warning : isNear ? colors.accent : colors["line-strong"];
  paper.globalAlpha = isNear ? 1 : focus ? 0.12 : isMarked ? 0.9 : 0.55;
  paper.lineWidth = Math.min(4, 0.8 + Math.log2(1 + edge.weight) * 0.5) + (isNear ? 0.6 : 0);
  const isDown = to.y > from.y;
  const start = { x: from.x + from.width / 2, y: isDown ? from.y + from.height : from.y };
  const end = { x: to.x + to.width / 2, y: isDown ? to.y : to.y + to.height };
  const bend = Math.max(24, Math.abs(end.y - start.y) / 2) * (isDown ? 1 : -1);
  paper.beginPath();
  paper.moveTo(start.x, start.y);
  paper.bezierCurveTo(start.x, start.y + bend, end.x, end.y - bend, end.x, end.y);
  paper.stroke();
  if (isNear || isMarked) paintTip(paper, end, isDown);
}

function paintTip(paper, { x, y }, isDown) {
  const back = isDown ? -7 : 7;
  paper.fillStyle = paper.strokeStyle;
  paper.beginPath();
  paper.moveTo(x, y);
  paper.lineTo(x - 4, y + back);
  paper.lineTo(x + 4, y + back);
  paper.fill();
}

function paintNode(paper, node, colors, { isFocus, isBack, scale }) {
  const { x, y, width, height, color, isBad, isGhost } = node;
  paper.globalAlpha = isBack ? 0.3 : 1;
  paper.beginPath();
  paper.roundRect(x, y, width, height, RADIUS);
  paper.fillStyle = isGhost ? colors.sunken : colors.surface;
  paper.fill();
  paper.setLineDash(isGhost ? [4, 3] : []);
  paper.lineWidth = isFocus ? 2.5 : 1.2;
  paper.strokeStyle = isFocus ? colors.accent : isBad ? colors.critical : colors["line-strong"];
  paper.stroke();
  paper.setLineDash([]);
  if (color) {
    paper.fillStyle = color;
    paper.beginPath();
    paper.roundRect(x, y, 5, height, [RADIUS, 0, 0, RADIUS]);
    paper.fill();
  }
  if (scale > LEGIBLE) paintText(paper, node, colors);
}

function paintText(paper, { x, y, width, label, note }, colors) {
  paper.textBaseline = "top";
  paper.fillStyle = colors.text;
  paper.font = `600 13px ${colors.font}`;
  paper.fillText(shortened(paper, label, width - 24), x + 14, y + 8);
  paper.fillStyle = colors.soft;
  paper.font = `400 11px ${colors.font}`;
  paper.fillText(shortened(paper, note, width - 24), x + 14, y + 26);
}

function shortened(paper, text, room) {
  if (paper.measureText(text).width <= room) return text;
  let length = text.length;
  while (length > 1 && paper.measureText(`${text.slice(0, length)}…`).width > room) length -= 1;
  return `${text.slice(0, length)}…`;
}

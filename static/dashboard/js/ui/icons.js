/** Line icons on a grid of 24. They only decorate: the text beside them speaks. */

import { svg } from "../core/dom.js";

const PATHS = {
  alert: "M12 8v5M12 16.5v.01M10.3 4.3 2.9 17.200A2 2 0 0 0 4.6 20.200h14.800a2 2 0 0 0 1.7-3L13.7 4.300a2 2 0 0 0-3.4 0Z",
  arrow: "M5 12h14M13 6l6 6-6 6",
  branch: "M6 4v12M6 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM18 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM18 8c0 5-12 3-12 8",
  building: "M4 21V5a1 1 0 0 1 1-1h9a1 1 0 0 1 1 1v16M15 10h4a1 1 0 0 1 1 1v10M2 21h20M8 8h3M8 12h3M8 16h3",
  check: "M5 12.500l4.5 4.500L19 7.5",
  chevron: "M6 9l6 6 6-6",
  clock: "M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  close: "M6 6l12 12M18 6L6 18",
  coins: "M9 13a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM15.5 8.300a5 5 0 1 1-6.2 7.2",
  copy: "M9 9h10v11H9zM5 15V4h10",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  flame: "M12 21a6 6 0 0 0 6-6c0-3-2-4.5-3-6.5-.5 1.5-1.5 2-2 2 .5-3-1-6-3.5-7.5.3 4-3.5 6-3.5 11.500a6 6 0 0 0 6 6.500Z",
  gate: "M12 3l8 3v6c0 4.5-3.2 7.7-8 9-4.8-1.3-8-4.5-8-9V6l8-3ZM9 12l2 2 4-4",
  graph: "M12 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM5.5 21a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM18.5 21a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM12 8v3.500M7 16.500l5-5 5 5",
  history: "M4 12a8 8 0 1 0 2.5-5.800L4 8.500M4 4v4.500h4.500M12 8v4.500l3 1.5",
  key: "M14.5 13a4.5 4.5 0 1 0-4.3-3.200L4 16v4h4v-2.500h2.500V15l1.8-1.800c.7-.1 1.4-.2 2.2-.200ZM15.5 8.500v.01",
  list: "M8 6h12M8 12h12M8 18h12M4 6v.010M4 12v.010M4 18v.01",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  logout: "M14 4H6v16h8M10 12h10M17 8.500l3.5 3.5-3.5 3.5",
  menu: "M4 7h16M4 12h16M4 17h16",
  minus: "M5 12h14",
  moon: "M20 14.500A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.500Z",
  pack: "M12 3l8 4.500v9L12 21l-8-4.500v-9L12 3ZM4 7.500l8 4.5 8-4.500M12 12v9",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c0-3.5 3-5.5 6.5-5.500s6.5 2 6.5 5.500M16 4.300a3.5 3.5 0 0 1 0 6.400M18 14.800c2.1.7 3.5 2.4 3.5 5.2",
  plus: "M12 5v14M5 12h14",
  refresh: "M20 12a8 8 0 1 1-2.5-5.800L20 8.500M20 4v4.500h-4.5",
  repository: "M6 3h13v18H6.500A2.5 2.5 0 0 1 4 18.500V5a2 2 0 0 1 2-2ZM4 18.500A2.5 2.5 0 0 1 6.5 16H19M9 7h6",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4",
  settings: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM19 12l2-1-1.5-3.5-2.2.500a7 7 0 0 0-1.3-.800L15.5 5h-4l-.5 2.2-1.3.8-2.2-.500L6 11l1.5 1v1.500L6 15l1.5 3.5 2.2-.5 1.3.8.5 2.200h4l.5-2.2 1.3-.8 2.2.500L21 14.500l-2-1V12Z",
  spark: "M12 3l1.8 5.200L19 10l-5.2 1.800L12 17l-1.8-5.200L5 10l5.2-1.800L12 3ZM19 16v4M17 18h4",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2.500v2M12 19.500v2M2.5 12h2M19.5 12h2M5.3 5.300l1.4 1.400M17.3 17.300l1.4 1.400M5.3 18.700l1.4-1.400M17.3 6.700l1.4-1.4",
  table: "M4 5h16v14H4zM4 10h16M10 10v9",
  up: "M12 19V6M6.5 11.500L12 6l5.5 5.5",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  down: "M12 5v13M6.5 12.500L12 18l5.5-5.5",
  wallet: "M4 7h15a1 1 0 0 1 1 1v11H5a1 1 0 0 1-1-1V7Zm0 0a2 2 0 0 1 2-2h11v2M16 13.500v.01",
};

/** An icon by name, `size` pixels wide. */
export function icon(name, size = 18) {
  const line = { d: PATHS[name], fill: "none", stroke: "currentColor", "stroke-width": "1.6" };
  const ends = { "stroke-linecap": "round", "stroke-linejoin": "round" };
  const box = { class: "icon", viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": "true" };
  return svg("svg", box, svg("path", { ...line, ...ends }));
}

/** Files that are complex and change often: a treemap for the picture, a table for the work. */

import * as api from "../core/api.js";
import { h } from "../core/dom.js";
import { card } from "../ui/card.js";
import { state } from "../ui/states.js";
import { hotspotMap } from "./hotspots/map.js";
import { hotspotTable } from "./hotspots/table.js";

export const title = "Hotspots";

const HOT = 60;

export function load({ params, signal }) {
  return api.get(`/api/repos/${params.repositoryId}/hotspots`, { query: { include: "lines" }, signal });
}

export function view(spots, page) {
  if (spots.length === 0) return card({}, nothing(page));
  const hot = spots.filter(({ riskScore }) => riskScore >= HOT).length;
  const text = [
    hot ? h("b", null, `${hot} of ${spots.length} files are hotspots.`) : h("b", null, "No file is a hotspot."),
    " The risk is high where code is complex and changes often: that is where bugs come from and where cleaning up pays first.",
  ];
  return [card({ title: "Where the risk lies", text }, hotspotMap(spots, page)), hotspotTable(spots, page)];
}

function nothing(page) {
  const isScanned = page.frame.repository.lastScanAt;
  return isScanned
    ? state({ icon: "flame", title: "No files to rank", text: "The last scan found no code in the languages that are analysed." })
    : state({ icon: "flame", title: "Not scanned yet", text: "Hotspots appear here after the first scan." });
}

/** One repository at a glance: how it is, which way it goes, and what to do first. */

import * as api from "../core/api.js";
import { repositories } from "../data/catalog.js";
import { isActive, latestRun } from "../data/runs.js";
import { grid } from "../ui/card.js";
import { categoryCard } from "./overview/categories.js";
import { figures } from "./overview/figures.js";
import { topFindings } from "./overview/findings.js";
import { hotspotCard, pullRequestCard } from "./overview/lists.js";
import { modelRow } from "./overview/model.js";
import { firstScan, rescan } from "./overview/progress.js";
import { trendCard } from "./overview/trend.js";

export const title = "Overview";

export async function load({ params, query, signal }) {
  const path = `/api/repos/${params.repositoryId}`;
  const period = query.get("period") ?? "30d";
  const [overview, trends, run, all] = await Promise.all([
    api.get(`${path}/overview`, { signal }),
    api.get(`${path}/trends`, { query: { period }, signal }),
    latestRun(params.repositoryId, signal),
    repositories(),
  ]);
  const listed = all.find(({ id }) => id === params.repositoryId);
  return { overview, trends, period, run, healthTrend: listed?.trend ?? [] };
}

export function view(data, page) {
  const { overview, run } = data;
  if (overview.healthScore === null) return firstScan(run, page);
  const base = `/repos/${page.params.repositoryId}`;
  return [
    run && isActive(run) && rescan(run, page),
    figures(data),
    modelRow(page),
    trendCard(data, page),
    grid("22rem", categoryCard(overview, base), hotspotCard(overview.topHotspots, base)),
    grid("22rem", topFindings(overview.categories, base), pullRequestCard(overview.recentPRs, base)),
  ];
}

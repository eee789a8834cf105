/** Open violations by category. */

import { bars } from "../../charts/bars.js";
import { number } from "../../core/format.js";
import { CATEGORIES, CATEGORY_NAMES } from "../../data/words.js";
import { card } from "../../ui/card.js";

const MEANS = {
  architecture: "Layers, cycles and classes that know too much",
  runtime_risk: "What can stop or corrupt a running service",
  performance: "What gets slow as data grows",
  reliability: "Errors that are lost or handled wrongly",
  maintainability: "What makes every change dearer",
};

/** Each bar leads to the violations of its category. */
export function categoryCard({ categoryBreakdown, categories }, base) {
  const rows = CATEGORIES.map((category) => ({
    name: CATEGORY_NAMES[category],
    note: MEANS[category],
    value: categoryBreakdown[category],
    text: textOf(categoryBreakdown[category], categories[category].critical?.length),
    href: `${base}/violations?category=${category}`,
    color: categories[category].critical?.length ? "--critical" : "--series-1",
  }));
  return card({ title: "Violations by category", text: "Red where some are critical" }, bars({ rows }));
}

function textOf(total, critical) {
  return critical ? `${number(total)} · ${critical} critical` : number(total);
}

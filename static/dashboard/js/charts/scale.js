/** From values to places on a chart. */

/** A linear map from `[from, to]` to `[start, end]`; a domain of one value maps to the middle. */
export function linear([from, to], [start, end]) {
  const span = to - from;
  return (value) => (span === 0 ? (start + end) / 2 : start + ((value - from) / span) * (end - start));
}

/** About `count` round values that cover 0 to `most`, the last one at least `most`. */
export function ticks(most, count = 4) {
  const step = roundStep(Math.max(most, 1) / count);
  const last = Math.ceil(Math.max(most, 1) / step);
  return Array.from({ length: last + 1 }, (_, index) => index * step);
}

/** The days of an ISO date since 1970, so that dates lie at true distances. */
export function dayNumber(date) {
  return Date.parse(date) / 86_400_000;
}

function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = rough / power;
  const nice = unit <= 1 ? 1 : unit <= 2 ? 2 : unit <= 5 ? 5 : 10;
  return Math.max(1, nice * power);
}

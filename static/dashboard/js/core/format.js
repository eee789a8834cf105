/** How numbers and times are written, everywhere the same. */

const LOCALE = "en-GB";
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const brief = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const dayMonth = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const fullDate = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric" });
const instant = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const STEPS = [["second", 60], ["minute", 60], ["hour", 24], ["day", 30], ["month", 12], ["year", Infinity]];

/** 12345 as "12,345". */
export const number = (value) => whole.format(value);

/** 12.34 as "12.3". */
export const decimal = (value) => tenths.format(value);

/** 12345 as "12.3K". */
export const compact = (value) => brief.format(value);

/** Money in major units: money(290, "usd") is "$290.00", whole amounts without cents. */
export function money(amount, currency = "usd") {
  const options = { style: "currency", currency: currency.toUpperCase(), minimumFractionDigits: amount % 1 ? 2 : 0 };
  return new Intl.NumberFormat("en-US", options).format(amount);
}

/** "1 file", "2 files"; `plural` for words that do not simply take an s. */
export function count(value, word, plural = `${word}s`) {
  return `${number(value)} ${value === 1 ? word : plural}`;
}

/** "20 Nov" of an ISO date or timestamp. */
export const day = (text) => dayMonth.format(new Date(text));

/** "20 Nov 2026". */
export const date = (text) => fullDate.format(new Date(text));

/** "20 Nov 2026, 18:33". */
export const time = (text) => instant.format(new Date(text));

/** "3 hours ago", "in 2 days". */
export function ago(text, now = Date.now()) {
  let amount = (new Date(text).getTime() - now) / 1000;
  if (Math.abs(amount) < 10) return "just now";
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return "";
}

/** 83000 milliseconds as "1 min 23 s". */
export function duration(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${decimal(seconds)} s`;
  const rounded = Math.round(seconds);
  return rounded < 60 ? `${rounded} s` : `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
}

/** runtime_risk as "Runtime risk"; names that the API uses as sentences of their own. */
export function words(name) {
  const text = String(name).replaceAll(/[_-]+/g, " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Two letters for an avatar. */
export function initials(name) {
  const parts = name.trim().split(/[\s@./_-]+/).filter(Boolean);
  return ((parts[0]?.[0] ?? "?") + (parts[1]?.[0] ?? "")).toUpperCase();
}

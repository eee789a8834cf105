/** The words for the API's values, and the tone (colour) that goes with each. One place, so that no page invents its own. */

export const CATEGORIES = ["architecture", "runtime_risk", "performance", "reliability", "maintainability"];

export const CATEGORY_NAMES = {
  architecture: "Architecture",
  runtime_risk: "Runtime risk",
  performance: "Performance",
  reliability: "Reliability",
  maintainability: "Maintainability",
};

export const SEVERITIES = ["critical", "warning", "info"];

export const RUN_STATES = {
  queued: { name: "Queued", tone: "info" },
  running: { name: "Running", tone: "accent" },
  succeeded: { name: "Succeeded", tone: "good" },
  failed: { name: "Failed", tone: "critical" },
  timed_out: { name: "Timed out", tone: "critical" },
  cancelled: { name: "Cancelled", tone: "" },
};

export const RUN_KINDS = { first_scan: "First scan", scan: "Scan", pull_request: "Pull request" };

export const VIOLATION_STATES = {
  suppressed: { name: "Suppressed", tone: "" },
  resolved: { name: "Resolved", tone: "good" },
};

export const RISKS = {
  LOW: { name: "Low", tone: "good" },
  MEDIUM: { name: "Medium", tone: "warning" },
  HIGH: { name: "High", tone: "critical" },
  CRITICAL: { name: "Critical", tone: "critical" },
};

export const LANGUAGES = { python: "Python", javascript: "JavaScript", typescript: "TypeScript", tsx: "TSX", java: "Java", go: "Go" };

export const PLATFORMS = { git: "Git", codehost1: "Code host 1", codehost2: "Code host 2" };

/** A module's name as people read it: the API calls the files at the root of a repository ".". */
export const moduleName = (name) => (name === "." ? "(root)" : name);

/** The word and tone of a health score, 0 to 100. */
export function healthOf(score) {
  if (score === null || score === undefined) return { name: "Not scanned", tone: "" };
  if (score >= 80) return { name: "Good", tone: "good" };
  if (score >= 60) return { name: "Fair", tone: "warning" };
  return { name: "Poor", tone: "critical" };
}

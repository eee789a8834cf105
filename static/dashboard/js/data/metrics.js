/** The metrics that a gate may name: what each is called, and in which group people look for it. */

export const METRICS = {
  debt_delta_score: ["Debt score of the change", "Debt"],
  debt_added: ["Debt points added", "Debt"],
  debt_removed: ["Debt points removed", "Debt"],
  new_violations: ["New violations", "New findings"],
  new_critical: ["New critical findings", "New findings"],
  new_warning: ["New warning findings", "New findings"],
  new_info: ["New info findings", "New findings"],
  new_architecture: ["New architecture findings", "New findings"],
  new_runtime_risk: ["New runtime risk findings", "New findings"],
  new_performance: ["New performance findings", "New findings"],
  new_reliability: ["New reliability findings", "New findings"],
  new_maintainability: ["New maintainability findings", "New findings"],
  new_xl_findings: ["New findings on large tables", "New findings"],
  complexity_delta: ["Change of complexity", "The change itself"],
  max_function_complexity: ["Highest complexity of a changed function", "The change itself"],
  duplicated_lines_delta: ["Change of duplicated lines", "The change itself"],
  changed_lines: ["Changed lines", "The change itself"],
  hotspots_touched: ["Hotspots touched", "The change itself"],
  hotspot_risk_max: ["Highest risk of a changed file", "The change itself"],
  suppressions_added: ["Suppressions added", "The change itself"],
  new_circular_dependencies: ["New circular dependencies", "Architecture"],
  circular_dependencies: ["Circular dependencies", "Architecture"],
  new_layer_violations: ["New layer violations", "Architecture"],
  layer_violations: ["Layer violations", "Architecture"],
  total_critical: ["Critical findings", "The whole repository"],
  total_violations: ["Violations", "The whole repository"],
  health_score: ["Health score", "The whole repository"],
  health_delta: ["Change of health", "The whole repository"],
  debt_score: ["Debt score", "The whole repository"],
  debt_ratio: ["Debt ratio in percent", "The whole repository"],
  production_risk: ["Production risk, 0 low to 3 critical", "The whole repository"],
  expired_exceptions: ["Expired exceptions", "The whole repository"],
};

export const OPERATORS = [">", ">=", "<", "<=", "==", "!="];

const SPOKEN = { ">": "above", ">=": "at least", "<": "below", "<=": "at most", "==": "exactly", "!=": "other than" };

/** The name of a metric; one that is not known here as it is. */
export const metricName = (metric) => METRICS[metric]?.[0] ?? metric;

/** "above 0": when a gate fires, in words. */
export const condition = ({ operator, value }) => `${SPOKEN[operator] ?? operator} ${value}`;

/** What credits are spent on, in words and by colour. */

export const OPERATIONS = {
  ai_scan_summary: { name: "Scan summaries", series: 1 },
  ai_cross_file: { name: "Cross-file analyses", series: 2 },
  ai_fix_suggestion: { name: "Fix suggestions", series: 3 },
  ai_pr_comment: { name: "Pull request comments", series: 4 },
  monthly_allocation: { name: "Monthly allocation", series: 5 },
  staff_grant: { name: "Granted by support", series: 5 },
};

/** The name of an operation; one that is not known here as it is. */
export const operationName = (operation) => OPERATIONS[operation]?.name ?? operation;

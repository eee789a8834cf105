"""What each AI operation costs, in credits (specification, Limits; contract, section 7)."""

SCAN_SUMMARY = 5
FIX_SUGGESTION = 3
PR_COMMENT = 5

CROSS_FILE_LEAST, CROSS_FILE_MOST = 10, 15
CROSS_FILE_INCLUDED_FILES = 20
CROSS_FILE_FILES_PER_CREDIT = 4


def cross_file(files: int) -> int:
    """10 credits up to 20 files, then one more for each further four files or part of them, at most 15."""
    further = max(0, files - CROSS_FILE_INCLUDED_FILES)
    return min(CROSS_FILE_MOST, CROSS_FILE_LEAST + -(-further // CROSS_FILE_FILES_PER_CREDIT))

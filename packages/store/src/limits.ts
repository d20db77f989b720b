/** The most keys or entries of one answer. */
const MAX_PAGE = 1_000;

/** How many keys or entries one answer holds. */
export function pageSize(limit: number = MAX_PAGE): number {
  return Math.min(MAX_PAGE, Math.max(0, Math.trunc(limit)));
}

import { byMeaning } from "./phrases.ts";

/** How a value relates to another. */
export const COMPARATORS = byMeaning({
  ">": "above, over, greater than, more than, bigger than, larger than, higher than, exceeding, exceeds, exceed, beyond, >",
  ">=": "at least, no less than, not less than, no fewer than, not below, not under, greater than or equal to, more than or equal to, equal to or above, above or equal to, minimum of, >=",
  "<": "below, under, less than, fewer than, smaller than, lower than, <",
  "<=": "at most, no more than, not more than, not above, not over, not exceeding, less than or equal to, fewer than or equal to, below or equal to, up to, maximum of, <=",
});

export const EQUALITIES = byMeaning({
  "===": "=, ==, ===, equal, equals, equal to, exactly, same as",
  "!==": "!=, !==, <>, not equal to, other than, different from, not exactly, anything but",
});

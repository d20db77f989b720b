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

/** Behind a number: `40 or more`. */
export const BOUNDS = byMeaning({
  ">=": "or more, or above, or over, or higher, or greater, or older, or longer, or warmer, and over, and above, and up, and older",
  "<=": "or less, or fewer, or below, or under, or lower, or younger, or cheaper, or shorter, or colder, and under, and below, and younger",
});

/** Where a date lies. `starts` is within the year, month or day. */
export const DATE_COMPARATORS = byMeaning({
  ">": "after, later than",
  ">=": "since, starting, starting from, on or after",
  "<": "before, earlier than, prior to",
  "<=": "until, up to, through, on or before",
  starts: "in, on, during",
});

export const TEXT_TESTS = byMeaning({
  includes: "contains, contain, containing, includes, include, including",
  startsWith: "starts with, start with, starting with, begins with, begin with, beginning with",
  endsWith: "ends with, end with, ending with, ends in, end in, ending in",
});

/** Before a condition that must not hold. */
export const NEGATIONS = byMeaning({
  not: "not, do not, does not, don't, doesn't, aren't, isn't, weren't, wasn't, are not, is not, were not, was not, never",
  except:
    "except, except for, excluding, but not, other than, apart from, with exception of, not counting, leaving out",
});

/** What a number counts, and the texts by which rows may say so themselves. */
export const UNITS = byMeaning({
  years: "years, year, years old, year old, yrs, years of age",
  USD: "$, dollars, dollar, usd, us dollars",
  EUR: "€, euros, euro, eur",
  GBP: "£, pounds sterling, gbp",
  "°C": "° c, degrees celsius, celsius, degrees c, c, degrees centigrade",
  "°F": "° f, degrees fahrenheit, fahrenheit, degrees f",
  degrees: "degrees, degree, °",
  mm: "mm, millimetres, millimeters",
  kg: "kg, kilos, kilograms",
  bytes: "bytes",
});

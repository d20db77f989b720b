import { byMeaning } from "./phrases.ts";

/** One number made of many. */
export const AGGREGATES = byMeaning({
  sum: "sum, total, sum up, add up, total up, sum of, total of",
  average: "average, mean, avg, average of, mean of",
  median: "median, median of",
  max: "maximum, max, highest, largest, biggest, greatest",
  min: "minimum, min, lowest, smallest, least",
  count: "count, number of, count of, total number of, amount of",
  spread: "difference, spread, range, difference in, difference of, range of, spread of",
});

/** A table of numbers about all columns. */
export const STATISTICS = byMeaning({
  statistics: "statistics, stats, summary statistics, statistical summary, basic statistics, some statistics",
});

import type { JsonSchema } from "@cem/core";
import type * as Chrono from "chrono-node/en";

/** A date in the words of a text. */
export interface FoundDate {
  /** ISO 8601: `2024-05-01`, or `2024-05-01T15:00:00` when the text gives a time or the schema wants one. */
  value: string;
  start: number;
  end: number;
}

const MAX_DATE_TEXT_CHARACTERS = 1_000;

/** What a text with a date in it has at least. */
const HINT =
  /\b(?:to(?:day|morrow|night)|yesterday|now|noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\b|january|february|march|april|june|july|august|september|october|november|december|weeks?|months?|years?|days?|hours?|minutes?|morning|evening|afternoon|ago)\b|\d[:/.-]\d|\d\s?(?:am|pm)\b/iu;

let chrono: typeof Chrono | undefined;

/** Loads what reads dates, where a task may have one: it takes longer than to read most tasks. Before {@link findDates}. */
export async function prepareDates(task: string): Promise<void> {
  if (HINT.test(task)) chrono ??= await import("chrono-node/en");
}

/** Finds dates and times such as `2024-05-01`, `tomorrow at 3pm` or `next Friday`. */
export function findDates(text: string, schema: JsonSchema, now: Date): FoundDate[] {
  const parsed = chrono?.parse(text.slice(0, MAX_DATE_TEXT_CHARACTERS), now, { forwardDate: true }) ?? [];
  return parsed
    .filter((found) => !/^\d+$/u.test(found.text))
    .map(({ start, index, text: { length } }) => {
      const pad = (part: "month" | "day" | "hour" | "minute" | "second"): string =>
        String(start.get(part) ?? 0).padStart(2, "0");
      const day = `${String(start.get("year") ?? 0).padStart(4, "0")}-${pad("month")}-${pad("day")}`;
      const hasTime = schema.format !== "date" && (schema.format === "date-time" || start.isCertain("hour"));
      const value = hasTime ? `${day}T${pad("hour")}:${pad("minute")}:${pad("second")}` : day;
      return { value, start: index, end: index + length };
    });
}

import * as z from "zod";

/** The parts of a date or a time, by their names in formats. */
const SHAPES: Readonly<Record<string, RegExp>> = {
  date: /^(?<YYYY>\d{4})-(?<MM>\d\d)-(?<DD>\d\d)$/,
  time: /^(?<HH>\d\d):(?<mm>\d\d)(?::(?<ss>\d\d))?$/,
  datetime: /^(?<YYYY>\d{4})-(?<MM>\d\d)-(?<DD>\d\d)[T ](?<HH>\d\d):(?<mm>\d\d)(?::(?<ss>\d\d))?$/,
  month: /^(?<YYYY>\d{4})-(?<MM>\d\d)$/,
  week: /^(?<YYYY>\d{4})-W(?<WW>\d\d)$/,
};
const CALENDAR: Readonly<Record<string, z.ZodType>> = {
  date: z.iso.date(),
  time: z.iso.time(),
  datetime: z.iso.datetime({ local: true }),
};

/** The formats in which people may enter a date, by type. */
export const DATE_EXAMPLES: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  time: "14:30",
  datetime: "2026-01-31T14:30",
  month: "2026-01",
  week: "2026-W05",
};

/** Reads a date or a time of ISO 8601. @returns it as HTML writes it, or `undefined` when there is no such date. */
export function readDate(text: string, type: string): string | undefined {
  const parts = SHAPES[type]?.exec(text)?.groups;
  if (parts === undefined) return undefined;
  const written = text.replace(" ", "T");
  const [calendar, whole] = type === "month" ? ["date", `${text}-01`] : [type, written];
  if (parts["YYYY"] === "0000" || CALENDAR[calendar]?.safeParse(whole).success === false) return undefined;
  const week = Number(parts["WW"] ?? 1);
  if (week < 1 || week > weeksIn(Number(parts["YYYY"] ?? 1))) return undefined;
  return parts["ss"] === "00" ? written.slice(0, -3) : written;
}

/** Normalizes a date or a time of a definition to the format of values, for comparison as texts. */
export function asValue(written: string | number | boolean, type: string): string {
  return readDate(String(written), type) ?? String(written);
}

/** Formats a date: `DD.MM.YYYY`. Other letters are left as they are. */
export function formatDate(text: string, type: string, format: string): string {
  const parts = SHAPES[type]?.exec(text)?.groups ?? {};
  return format.replaceAll(/([A-Za-z])\1*/g, (run) => {
    const part = run === "YY" ? parts["YYYY"]?.slice(-2) : parts[run];
    return part ?? (run === "ss" && run in parts ? "00" : run);
  });
}

export function faultOfFormat(type: string, format: string): string | undefined {
  const example = DATE_EXAMPLES[type] ?? "";
  const words = formatDate(example, type, format).match(/[A-Za-z]+/g) ?? [];
  // In `HH h mm` the lower-case letter is text.
  const isText = (word: string): boolean =>
    !/^(?:[YMDHWAEymdhs]+|Do)$/.test(word) ||
    (/^[a-z]$/.test(word) && format.toLowerCase().includes(word + word));
  const unknown = words.find((word) => !isText(word));
  if (unknown === undefined) return undefined;
  const parts = Object.keys(SHAPES[type]?.exec(example)?.groups ?? {});
  return `has ${unknown}, which is not part of a ${type}; there are ${parts.join(", ")}${parts.includes("YYYY") ? " and YY" : ""}`;
}

/** A year has 53 weeks if its first or its last day is a Thursday. */
function weeksIn(year: number): number {
  const isThursday = (month: number, day: number): boolean => {
    const date = new Date(0);
    // Date.UTC takes years below 100 as years of the 20th century.
    date.setUTCFullYear(year, month, day);
    return date.getUTCDay() === 4;
  };
  return isThursday(0, 1) || isThursday(11, 31) ? 53 : 52;
}

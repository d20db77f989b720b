/** The parts of a date or a time, as they are written in formats. */
const PARTS: Readonly<Record<string, readonly (string | undefined)[]>> = {
  date: ["YYYY", "MM", "DD"],
  time: ["HH", "mm", "ss"],
  datetime: ["YYYY", "MM", "DD", "HH", "mm", "ss"],
  month: ["YYYY", "MM"],
  week: ["YYYY", "WW"],
};
const SHAPES: Readonly<Record<string, RegExp>> = {
  date: /^(\d{4})-(\d\d)-(\d\d)$/,
  time: /^(\d\d):(\d\d)(?::(\d\d))?$/,
  datetime: /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?$/,
  month: /^(\d{4})-(\d\d)$/,
  week: /^(\d{4})-W(\d\d)$/,
};
const LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  YYYY: [1, 9999],
  MM: [1, 12],
  DD: [1, 31],
  WW: [1, 53],
  HH: [0, 23],
  mm: [0, 59],
  ss: [0, 59],
};

/** The formats in which people may type a date of a type. */
export const DATE_EXAMPLES: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  time: "14:30",
  datetime: "2026-01-31T14:30",
  month: "2026-01",
  week: "2026-W05",
};

/** Reads a date or a time of ISO 8601. @returns it as HTML writes it, or `undefined` where there is no such date. */
export function readDate(text: string, type: string): string | undefined {
  const parts = partsOf(text, type);
  if (parts === undefined) return undefined;
  for (const [part, value] of parts) {
    const [least, most] = LIMITS[part] ?? [0, 0];
    if (Number(value) < least || Number(value) > most) return undefined;
  }
  const [year = 0, month = 1, day = 1] = ["YYYY", "MM", "DD"].map((part) => Number(parts.get(part) ?? 1));
  if (parts.has("DD") && day > daysIn(year, month)) return undefined;
  if (parts.has("WW") && Number(parts.get("WW")) > weeksIn(year)) return undefined;
  const isMidMinute = parts.get("ss") === "00";
  return (isMidMinute ? text.slice(0, -3) : text).replace(" ", "T");
}

/** Writes a date in another way: `DD.MM.YYYY`. Parts that the value lacks are left as they are. */
export function formatDate(text: string, type: string, format: string): string {
  const parts = partsOf(text, type);
  return format.replace(/YYYY|YY|MM|DD|HH|mm|ss|WW/g, (part) => {
    if (part === "YY") return parts?.get("YYYY")?.slice(-2) ?? part;
    return parts?.get(part) ?? (part === "ss" ? "00" : part);
  });
}

function partsOf(text: string, type: string): Map<string, string> | undefined {
  const match = SHAPES[type]?.exec(text);
  if (match === null || match === undefined) return undefined;
  const names = PARTS[type] ?? [];
  return new Map(
    names.flatMap((name, index) => {
      const value = match[index + 1];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function daysIn(year: number, month: number): number {
  const last = new Date(Date.UTC(2000, month, 0));
  // Date takes years below 100 for those of the last century.
  last.setUTCFullYear(year, month, 0);
  return last.getUTCDate();
}

/** A year has 53 weeks where it begins on a Thursday, or on a Wednesday in a leap year. */
function weeksIn(year: number): number {
  const first = new Date(Date.UTC(2000, 0, 1));
  first.setUTCFullYear(year, 0, 1);
  const isLeap = daysIn(year, 2) === 29;
  return first.getUTCDay() === 4 || (first.getUTCDay() === 3 && isLeap) ? 53 : 52;
}

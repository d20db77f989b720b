const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

/** A month by its English name. */
export type Month =
  | "January"
  | "February"
  | "March"
  | "April"
  | "May"
  | "June"
  | "July"
  | "August"
  | "September"
  | "October"
  | "November"
  | "December";

/** Which month is meant, counted from 0: a name, the first three letters or more of one, or 1 to 12. */
export function readMonth(given: unknown, now: Date): number {
  if (given === undefined || given === null) return now.getUTCMonth();
  const text = (typeof given === "number" ? `${given}` : typeof given === "string" ? given : "")
    .trim()
    .toLowerCase();
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= 12) return number - 1;
  const index = text.length < 3 ? -1 : MONTHS.findIndex((month) => month.toLowerCase().startsWith(text));
  if (index === -1)
    throw new RangeError(`${JSON.stringify(given)} is not a month. Give a name such as "July", or 1 to 12.`);
  return index;
}

export function monthName(index: number): Month {
  return MONTHS[index % 12] ?? "January";
}

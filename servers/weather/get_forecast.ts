import { typicalCondition } from "./condition.ts";
import type { Condition } from "./condition.ts";
import { findCity } from "./locations.ts";

const DEFAULT_DAYS = 5;
const MAX_DAYS = 31;
const DAY_MS = 86_400_000;

/** Where, and how far ahead. */
export interface GetForecastInput {
  /** Name of a city: `San Francisco`, `Paris, France`, `NYC`. */
  location: string;
  /**
   * How many days, beginning tomorrow.
   *
   * @integer
   * @minimum 1
   * @maximum 31
   * @default 5
   */
  days?: number;
}

/** The weather that is normal for a place on a day. */
export interface ForecastDay {
  /** The day, as YYYY-MM-DD (UTC). */
  date: string;
  /** Name of the city. */
  location: string;
  /** Mean temperature, in degrees Celsius. */
  temperature: number;
  /** Unit of the temperature. */
  unit: "°C";
  /** Typical condition, derived from temperature and precipitation. */
  condition: Condition;
  /** The kind of figures: monthly averages of many years, interpolated to the day; not a prediction. */
  kind: "interpolated climate normal";
}

/**
 * Get a forecast of the weather in a city for the coming days, interpolated from climate normals.
 *
 * @returns One entry per day, in order.
 * @readOnly
 * @idempotent
 */
export async function get_forecast(input: GetForecastInput): Promise<ForecastDay[]> {
  const city = findCity("get_forecast", input?.location);
  const days: unknown = input.days ?? DEFAULT_DAYS;
  if (typeof days !== "number" || !Number.isInteger(days) || days < 1 || days > MAX_DAYS) {
    throw new RangeError(`get_forecast takes 1 to ${MAX_DAYS} days, not ${String(days)}.`);
  }
  const today = Date.now();
  return Array.from({ length: days }, (_, index): ForecastDay => {
    const date = new Date(today + (index + 1) * DAY_MS);
    const temperature = Math.round(interpolate(city.temperatures, date) * 10) / 10;
    return {
      date: date.toISOString().slice(0, 10),
      location: city.name,
      temperature,
      unit: "°C",
      condition: typicalCondition(temperature, interpolate(city.precipitation, date)),
      kind: "interpolated climate normal",
    };
  });
}

/** A month's value holds at its middle; between two middles the way is straight. */
function interpolate(monthly: readonly number[], date: Date): number {
  const month = date.getUTCMonth();
  const daysInMonth = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const offset = (date.getUTCDate() - 0.5) / daysInMonth - 0.5;
  const here = monthly[month] ?? Number.NaN;
  const there = monthly[(month + (offset < 0 ? 11 : 1)) % 12] ?? Number.NaN;
  return here + (there - here) * Math.abs(offset);
}

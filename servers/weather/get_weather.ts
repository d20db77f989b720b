import { SOURCE } from "./climate-normals.ts";
import { typicalCondition } from "./condition.ts";
import type { Condition } from "./condition.ts";
import { findCity } from "./locations.ts";
import { monthName, readMonth } from "./months.ts";
import type { Month } from "./months.ts";

/** Where, and for which month. */
export interface GetWeatherInput {
  /** Name of a city: `San Francisco`, `Paris, France`, `NYC`. */
  location: string;
  /** The month; the current one (UTC) when left out. */
  month?: Month;
}

/** The weather that is normal for a place in a month. */
export interface Weather {
  /** Name of the city. */
  location: string;
  /** Country of the city. */
  country: string;
  /** The month that the figures are for. */
  month: Month;
  /** Mean temperature, in degrees Celsius. */
  temperature: number;
  /** Unit of the temperature. */
  unit: "°C";
  /** Typical condition, derived from temperature and precipitation. */
  condition: Condition;
  /** Mean precipitation of the month, in millimetres. */
  precipitation_mm: number;
  /** The kind of figures: averages of many years, not a measurement of today. */
  kind: "climate normal";
  /** Where the figures come from. */
  source: string;
}

/**
 * Get the weather for a city: temperature and condition as they are normal for the current or a given month.
 *
 * @returns The weather that is normal there, called a climate normal.
 * @readOnly
 * @idempotent
 */
export async function get_weather(input: GetWeatherInput): Promise<Weather> {
  const city = findCity("get_weather", input?.location);
  const month = readMonth(input.month, new Date());
  const temperature = city.temperatures[month] ?? Number.NaN;
  const precipitation = city.precipitation[month] ?? Number.NaN;
  return {
    location: city.name,
    country: city.country,
    month: monthName(month),
    temperature,
    unit: "°C",
    condition: typicalCondition(temperature, precipitation),
    precipitation_mm: precipitation,
    kind: "climate normal",
    source: SOURCE,
  };
}

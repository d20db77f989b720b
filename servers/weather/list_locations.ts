import { CITIES } from "./locations.ts";

/** A city that has climate normals. */
export interface Location {
  /** Name of the city, as `get_weather` takes it. */
  name: string;
  /** Country of the city. */
  country: string;
}

/**
 * List the cities that there is weather for.
 *
 * @returns The cities, beginning with San Francisco.
 * @readOnly
 * @idempotent
 */
export async function list_locations(_input: Record<string, never> = {}): Promise<Location[]> {
  return CITIES.map(({ name, country }) => ({ name, country }));
}

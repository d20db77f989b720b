import { CLIMATE_NORMALS } from "./climate-normals.ts";

/** A city and its normals. */
export interface City {
  name: string;
  country: string;
  regions: readonly string[];
  aliases: readonly string[];
  /** Mean temperature in °C, January first. */
  temperatures: readonly number[];
  /** Mean precipitation in mm, January first. */
  precipitation: readonly number[];
}

const SUGGESTIONS = 3;

const COUNTRY_ALIASES = new Map([
  ["united states", ["us", "usa", "america", "united states of america"]],
  ["united kingdom", ["uk", "gb", "great britain", "britain"]],
  ["netherlands", ["holland", "the netherlands"]],
  ["czechia", ["czech republic"]],
  ["south korea", ["korea", "republic of korea"]],
  ["united arab emirates", ["uae"]],
]);

/** All cities, in the order of the table. */
export const CITIES: readonly City[] = CLIMATE_NORMALS.trim().split("\n").map(readLine);

function readLine(line: string): City {
  const [name = "", country = "", regions = "", aliases = "", temperatures = "", precipitation = ""] =
    line.split("|");
  return {
    name,
    country,
    regions: regions.split(",").filter(Boolean),
    aliases: aliases.split(",").filter(Boolean),
    temperatures: temperatures.split(" ").map(Number),
    precipitation: precipitation.split(" ").map(Number),
  };
}

/** Finds a city by name, alias or "City, Country"; an unknown one is an error that names those that come near. */
export function findCity(tool: string, given: unknown): City {
  if (typeof given !== "string" || given.trim() === "") {
    throw new TypeError(`${tool} needs a city's name as "location", such as "San Francisco".`);
  }
  const whole = plain(given);
  const exact = CITIES.find((city) => namesOf(city).includes(whole));
  if (exact) return exact;
  const qualified = CITIES.find((city) =>
    namesOf(city).some(
      (name) => whole.startsWith(`${name} `) && isWithin(city, whole.slice(name.length + 1)),
    ),
  );
  if (qualified) return qualified;
  throw unknownPlace(given, plain(given.split(",")[0] ?? ""));
}

/** Whether what follows a city's name ("CA, USA") says where that city is. */
function isWithin(city: City, qualifier: string): boolean {
  const places = placesOf(city);
  return places.includes(qualifier) || places.some((a) => places.some((b) => qualifier === `${a} ${b}`));
}

function namesOf(city: City): string[] {
  return [city.name, ...city.aliases].map(plain);
}

function placesOf(city: City): string[] {
  const country = plain(city.country);
  return [country, ...(COUNTRY_ALIASES.get(country) ?? []), ...city.regions.map(plain)];
}

/** Lower case, without accents and punctuation. */
function plain(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[.'’]/g, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function unknownPlace(given: string, place: string): RangeError {
  const near = CITIES.map((city) => ({
    city,
    edits: Math.min(...namesOf(city).map((name) => editsBetween(place, name))),
  }))
    .filter(({ edits }) => edits < Infinity)
    .toSorted((a, b) => a.edits - b.edits)
    .slice(0, SUGGESTIONS)
    .map(({ city }) => `"${city.name}, ${city.country}"`);
  const inCountry = CITIES.filter((city) => placesOf(city).includes(place)).map(
    (city) => `"${city.name}, ${city.country}"`,
  );
  const suggestions = near.length > 0 ? near : inCountry.slice(0, SUGGESTIONS);
  const question = suggestions.length > 0 ? ` Did you mean ${suggestions.join(" or ")}?` : "";
  return new RangeError(
    `There are no climate normals for "${given.trim()}".${question} list_locations names the ${CITIES.length} cities there are.`,
  );
}

/** The edits that make one name of the other; infinite when they have too little in common. */
function editsBetween(place: string, name: string): number {
  const edits = place.length > 3 && name.includes(place) ? 1 : editDistance(place, name);
  return edits <= Math.floor(Math.max(place.length, name.length) / 3) ? edits : Infinity;
}

/** How many letters have to be added, removed or changed to make one text of the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const substitution = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(substitution, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

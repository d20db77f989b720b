import { byMeaning } from "./phrases.ts";

/** `the oldest`: the property, and which end of it. */
export const SUPERLATIVES = byMeaning({
  "age high": "oldest",
  "age low": "youngest",
  "price high": "most expensive, priciest, costliest, dearest",
  "price low": "cheapest, least expensive",
  "temperature high": "warmest, hottest",
  "temperature low": "coldest, coolest, chilliest",
  "humidity high": "most humid",
  "precipitation high": "wettest, rainiest",
  "precipitation low": "driest",
  "wind high": "windiest",
  "height high": "tallest",
  "weight high": "heaviest",
  "weight low": "lightest",
  "length high": "longest",
  "length low": "shortest",
  "speed high": "fastest",
  "speed low": "slowest",
  "date high": "newest, latest, most recent",
  "date low": "earliest",
});

/** Columns that hold a property, best first. */
export const PROPERTY_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  age: ["age"],
  price: ["price", "cost"],
  temperature: ["temperature", "temp"],
  humidity: ["humidity"],
  precipitation: ["precipitation", "precipitation_mm", "rain"],
  wind: ["wind_speed", "wind"],
  height: ["height"],
  weight: ["weight"],
  length: ["length", "duration", "height"],
  speed: ["speed"],
  date: ["created_at", "date", "timestamp", "created"],
};

export const DIRECTIONS = byMeaning({
  ascending:
    "ascending, asc, ascending order, in ascending order, alphabetically, numerically, in alphabetical order, low to high, from low to high, lowest to highest, from lowest to highest, smallest to largest, from smallest to largest, from a to z, lowest first, smallest first, earliest first, least first",
  descending:
    "descending, desc, descending order, in descending order, in reverse order, in reverse, high to low, from high to low, highest to lowest, from highest to lowest, largest to smallest, from largest to smallest, from z to a, highest first, largest first, biggest first, most first, latest first, newest first, in reverse alphabetical order",
});

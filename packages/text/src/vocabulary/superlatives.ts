import { byMeaning } from "./phrases.ts";

/** `older`: by which property two things differ, and on which side of it. */
export const COMPARATIVES = byMeaning({
  "age high": "older",
  "age low": "younger",
  "price high": "more expensive, pricier, costlier, dearer",
  "price low": "cheaper, less expensive",
  "temperature high": "warmer, hotter",
  "temperature low": "colder, cooler, chillier",
  "humidity high": "more humid",
  "precipitation high": "wetter, rainier",
  "precipitation low": "drier, dryer",
  "wind high": "windier",
  "height high": "taller",
  "weight high": "heavier",
  "weight low": "lighter",
  "length high": "longer",
  "length low": "shorter",
  "speed high": "faster",
  "speed low": "slower",
  "date high": "newer, more recent",
});

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

/** An end of whatever property is named next: `the highest price`. */
export const EXTREMES = byMeaning({
  high: "highest, largest, biggest, greatest, most, maximum, max",
  low: "lowest, smallest, least, fewest, minimum, min",
});

/** The same for two: `has the higher price`. */
export const HIGHER = byMeaning({
  high: "higher, larger, bigger, greater, more",
  low: "lower, smaller, less, fewer",
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

/** What people mean when they say `orders over 100`, best first. */
export const MEASURES = ["total", "amount", "price", "cost", "value", "age", "salary", "score", "quantity"];

export const DIRECTIONS = byMeaning({
  ascending:
    "ascending, asc, ascending order, in ascending order, alphabetically, numerically, in alphabetical order, low to high, from low to high, lowest to highest, from lowest to highest, smallest to largest, from smallest to largest, from a to z, lowest first, smallest first, earliest first, least first",
  descending:
    "descending, desc, descending order, in descending order, in reverse order, in reverse, high to low, from high to low, highest to lowest, from highest to lowest, largest to smallest, from largest to smallest, from z to a, highest first, largest first, biggest first, most first, latest first, newest first, in reverse alphabetical order",
});

/** Places in an order. */
export const ORDINALS = byMeaning({
  1: "first, 1st",
  2: "second, 2nd",
  3: "third, 3rd",
  4: "fourth, 4th",
  5: "fifth, 5th",
  6: "sixth, 6th",
  7: "seventh, 7th",
  8: "eighth, 8th",
  9: "ninth, 9th",
  10: "tenth, 10th",
});

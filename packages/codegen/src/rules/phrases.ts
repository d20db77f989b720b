export const AGGREGATES = byMeaning({
  sum: "sum, total, sum up, add up, total up, sum of, total of",
  average: "average, mean, avg, average of, mean of",
  median: "median, median of",
  max: "maximum, max, highest, largest, biggest, greatest",
  min: "minimum, min, lowest, smallest, least",
});

export const COMPARATORS = byMeaning({
  ">": "above, over, greater than, more than, bigger than, larger than, higher than, exceeding, exceeds, exceed, beyond, >",
  ">=": "at least, no less than, not less than, no fewer than, not below, not under, greater than or equal to, more than or equal to, equal to or above, above or equal to, minimum of, >=",
  "<": "below, under, less than, fewer than, smaller than, lower than, <",
  "<=": "at most, no more than, not more than, not above, not over, not exceeding, less than or equal to, fewer than or equal to, below or equal to, up to, maximum of, <=",
});

export const EQUALITIES = byMeaning({
  "===": "=, ==, ===, equal, equals, equal to, exactly, same as",
  "!==": "!=, !==, <>, not equal to, other than, different from, not exactly, anything but",
});

/** Superlatives such as `the oldest`: the property and the direction. */
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

export const NOUN_GROUPS = [
  "event meeting appointment",
  "email mail",
  "issue bug ticket",
  "image picture photo",
  "directory folder",
  "repository repo",
  "task todo reminder",
  "message dm",
  "movie film",
  "product item",
  "user person member",
  "price cost quote",
  "page website webpage site",
  "document doc",
  "customer client",
  "stock share",
  "log history",
];

/** Words that change what is asked for, none of which may be ignored. */
export const DEMANDING_WORDS: ReadonlySet<string> = new Set(
  `twice thrice once not no except excluding without but unless instead versus vs than compare compared difference average mean
  median sum total sorted sort ordered descending ascending count percentage percent ratio per each every both all again repeat
  repeatedly daily hourly weekly monthly yearly until till since before after between during while only first last next
  previous top bottom tomorrow yesterday week month year fahrenheit celsius kelvin more most less least fewer was were be`.split(
    /\s+/,
  ),
);

/** Maps phrases to meanings, from lists of phrases per meaning: `{ ">": "above, over" }`. */
function byMeaning(lists: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(lists).flatMap(([meaning, list]) =>
      list.split(/,\s+/u).map((phrase) => [phrase, meaning]),
    ),
  );
}

import type { Phrase } from "./phrase.ts";

let countries: ReadonlySet<string> | undefined;

/** Splits `Paris, London and Tokyo`. `Paris, France` and `Portland, OR` stay one. */
export function splitList(text: string, phrase: Phrase, keepsCountries = false): string[] {
  const parts = text
    .split(
      /(?<!\s)\s*,\s*(?:and\s+|or\s+|&\s*)?|(?<!\s)\s+(?:and|as well as|&|plus)\s+(?:also\s+)?(?:in\s+|for\s+)?|(?<!\s)\s*;\s*|\n/iu,
    )
    .map((part) =>
      phrase
        .decode(part)
        .trim()
        .replace(/^(?:both|the cities(?: of)?|in|for)\s+/iu, ""),
    )
    .filter((part) => part !== "");
  return keepsCountries ? joinCountries(parts) : parts;
}

function joinCountries(parts: readonly string[]): string[] {
  const joined: string[] = [];
  for (const part of parts) {
    const isCountry = /^[A-Z]{2,3}$/u.test(part) || countryNames().has(part.toLowerCase());
    if (isCountry && joined.length > 0) joined.push(`${joined.pop()}, ${part}`);
    else joined.push(part);
  }
  return joined;
}

function countryNames(): ReadonlySet<string> {
  if (countries !== undefined) return countries;
  const names = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");
  const found = letters.flatMap((a) => letters.map((b) => names.of(a + b)?.toLowerCase()));
  const cityStates = new Set([
    "singapore",
    "monaco",
    "luxembourg",
    "hong kong",
    "gibraltar",
    "san marino",
    "djibouti",
    "kuwait",
    "panama",
    "guatemala",
  ]);
  const known = found.filter((name): name is string => name !== undefined && !cityStates.has(name));
  countries = new Set([
    ...known,
    "usa",
    "uk",
    "england",
    "scotland",
    "wales",
    "california",
    "texas",
    "new south wales",
  ]);
  return countries;
}

/** Phrases by what they mean, from lists of phrases for each meaning: `{ ">": "above, over" }`. */
export function byMeaning(lists: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(lists).flatMap(([meaning, list]) =>
      list.split(/,\s+/u).map((phrase) => [phrase, meaning]),
    ),
  );
}

import { splitStems, stem } from "@cem/core/text";

/** The most distinct words of one query. */
const MAX_QUERY_WORDS = 256;
/** The weight of a word that occurs n times is n to this power. */
const REPETITION_EXPONENT = 0.25;

/** Stems of words that only phrase a request. */
const REQUEST_STEMS: ReadonlySet<string> = new Set(
  `additionally assist assistance curious going gonna gotta help hello hey hi interested know let like looking
  love maybe need please planning thing things try trying tell wanna want wish wondering
  u ur pls plz thx ok okay hey right`
    .split(/\s+/)
    .map(stem),
);

/** Whether a stem is that of a word that only phrases a request: `please`, `want`, `help`. */
export function isRequestStem(word: string): boolean {
  return REQUEST_STEMS.has(word);
}

/** The stems of a query with their weights. */
export function readQuery(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const stems = splitStems(text);
  const telling = stems.filter((word) => !isRequestStem(word));
  for (const word of telling.length > 0 ? telling : stems) {
    if (counts.has(word) || counts.size < MAX_QUERY_WORDS) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  for (const [word, count] of counts) {
    counts.set(word, count ** REPETITION_EXPONENT);
  }
  return counts;
}

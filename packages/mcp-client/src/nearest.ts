import { closest, distance } from "fastest-levenshtein";

const MAX_COMPARED = 5_000;
const MAX_NAME_CHARACTERS = 200;

/** The known name that was probably meant, if one is close enough. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_CHARACTERS || known.length === 0) return undefined;
  const candidates = known.slice(0, MAX_COMPARED);
  const folded = name.toLowerCase();
  const match =
    candidates.find((candidate) => candidate.toLowerCase() === folded) ?? closest(name, candidates);
  const near = distance(folded, match.toLowerCase());
  return near <= Math.max(2, Math.floor(name.length / 3)) ? match : undefined;
}

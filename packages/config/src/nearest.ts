import { closest, distance } from "fastest-levenshtein";

/** The candidate that `written` was probably meant to be: same but for spelling, or nothing. */
export function nearest(written: string, candidates: readonly string[]): string | undefined {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const wanted = plain(written).slice(0, 60);
  const best =
    candidates.find((candidate) => plain(candidate) === wanted) ??
    (candidates.length > 0 ? closest(wanted, candidates.map(plain)) : undefined);
  const found = candidates.find((candidate) => candidate === best || plain(candidate) === best);
  return found !== undefined && distance(wanted, plain(found)) <= Math.max(1, Math.floor(wanted.length / 3))
    ? found
    : undefined;
}

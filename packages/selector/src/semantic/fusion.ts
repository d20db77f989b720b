import { findOutliers } from "./outliers.ts";

/** Weight of semantic similarity in the combination. */
const MEANING_WEIGHT = 0.5;

/**
 * Combines lexical scores and semantic similarities to one score, 0 to 1: a convex combination of both, each normalised.
 * Without any lexical match, similarity alone decides.
 *
 * @param weight - The weight of similarity, 0 to 1.
 */
export function fuse(
  lexical: Float32Array,
  similarities: Float32Array,
  weight = MEANING_WEIGHT,
): Float32Array {
  const top = lexical.reduce((best, score) => Math.max(best, score), 0);
  const best = similarities.reduce((most, value) => Math.max(most, value), -Infinity);
  const worst = similarities.reduce((least, value) => Math.min(least, value), Infinity);
  const share = top === 0 ? 1 : weight;
  return lexical.map((score, at) => {
    const meaning = best === worst ? 0 : ((similarities[at] ?? worst) - worst) / (best - worst);
    return (1 - share) * (top === 0 ? 0 : score / top) + share * meaning;
  });
}

/**
 * Combines lexical scores and semantic similarities, for the tools that are relevant by their words or by their meaning.
 * The others get 0.
 *
 * @param relevant - The lexical scores, 0 for tools that are not relevant by their words.
 */
export function fuseRelevant(
  lexical: Float32Array,
  relevant: Float32Array,
  similarities: Float32Array,
): Float32Array {
  const isMeant = findOutliers(similarities);
  return fuse(lexical, similarities).map((score, at) =>
    (relevant[at] ?? 0) > 0 || isMeant(similarities[at] ?? -1) ? score : 0,
  );
}

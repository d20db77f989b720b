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

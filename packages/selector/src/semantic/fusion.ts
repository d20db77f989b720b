/** Minimum cosine similarity of texts on the same subject, for the usual sentence models. */
const LEAST_SIMILARITY = 0.3;
/** The modified z-score of Iglewicz and Hoaglin from which a value is an outlier. */
const OUTLIER_Z = 3.5;
/** Scales the median absolute deviation to the standard deviation of a normal distribution. */
const NORMAL_SCALE = 0.6745;
/** Minimum deviation, so that similarities that hardly differ are not outliers. */
const LEAST_DEVIATION = 0.01;
/** Fewer similarities than this have no distribution to stand out from. */
const MIN_SAMPLE = 8;

/** Tests for similarities that stand out from the catalog: those of some models are all high. */
export function findOutliers(similarities: Float32Array): (similarity: number) => boolean {
  if (similarities.length < MIN_SAMPLE) return (similarity) => similarity >= LEAST_SIMILARITY;
  const middle = median(similarities);
  const deviation = Math.max(
    LEAST_DEVIATION,
    median(similarities.map((similarity) => Math.abs(similarity - middle))),
  );
  const floor = Math.max(LEAST_SIMILARITY, middle + (OUTLIER_Z * deviation) / NORMAL_SCALE);
  return (similarity) => similarity >= floor;
}

function median(values: Float32Array): number {
  const sorted = values.toSorted();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

const MEANING_WEIGHT = 0.5;

/** A convex combination of both, each normalised, 0 to 1. Without any lexical match, similarity alone decides. */
export function fuse(lexical: Float32Array, similarities: Float32Array): Float32Array {
  const top = lexical.reduce((best, score) => Math.max(best, score), 0);
  const best = similarities.reduce((most, value) => Math.max(most, value), -Infinity);
  const worst = similarities.reduce((least, value) => Math.min(least, value), Infinity);
  const share = top === 0 ? 1 : MEANING_WEIGHT;
  return lexical.map((score, at) => {
    const meaning = best === worst ? 0 : ((similarities[at] ?? worst) - worst) / (best - worst);
    return (1 - share) * (top === 0 ? 0 : score / top) + share * meaning;
  });
}

/** Combines both for the tools that are relevant by their words (`relevant` is above 0) or by meaning. The others get 0. */
export function fuseRelevant(lexical: Float32Array, relevant: Float32Array, similarities: Float32Array) {
  const isMeant = findOutliers(similarities);
  return fuse(lexical, similarities).map((score, at) =>
    (relevant[at] ?? 0) > 0 || isMeant(similarities[at] ?? -1) ? score : 0,
  );
}

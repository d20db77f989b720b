export const MEASURES = ["R@1", "R@5", "R@10", "NDCG@10", "MRR", "Hit@1", "All@10"] as const;
export type Measures = Record<(typeof MEASURES)[number], number>;

/** Scores one ranking. A group is found when any of its members is. */
export function measure(ranked: readonly string[], groups: readonly string[][]): Measures {
  const recall = (count: number) => {
    const top = new Set(ranked.slice(0, count));
    return groups.filter((group) => group.some((id) => top.has(id))).length / groups.length;
  };
  const isNeeded = (id: string | undefined) => groups.some((group) => group.includes(id ?? ""));
  const first = ranked.findIndex(isNeeded);
  return {
    "R@1": recall(1),
    "R@5": recall(5),
    "R@10": recall(10),
    "NDCG@10": gain(ranked.slice(0, 10), groups),
    MRR: first < 0 ? 0 : 1 / (first + 1),
    "Hit@1": isNeeded(ranked[0]) ? 1 : 0,
    "All@10": recall(10) === 1 ? 1 : 0,
  };
}

function gain(ranked: readonly string[], groups: readonly string[][]): number {
  const found = new Set<number>();
  let sum = 0;
  for (const [at, id] of ranked.entries()) {
    const group = groups.findIndex((members, number) => !found.has(number) && members.includes(id));
    if (group >= 0) {
      found.add(group);
      sum += 1 / Math.log2(at + 2);
    }
  }
  const ideal = groups.slice(0, 10).reduce((total, _, at) => total + 1 / Math.log2(at + 2), 0);
  return sum / ideal;
}

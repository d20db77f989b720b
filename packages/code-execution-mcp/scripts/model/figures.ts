/** How one task went. */
export interface TaskFigures {
  id: string;
  outcome: "first try" | "after repair" | "failed" | "refused rightly" | "refused wrongly";
  /** The share of the tools it needs that the model was told of at first. `undefined` where none is labelled. */
  recall?: number | undefined;
  inputTokens: number;
  outputTokens: number;
  /** What happened instead, where the task was not done. */
  detail?: string | undefined;
}

/** Prints what a set of tasks came to. */
export function summaryOf(set: string, tasks: readonly TaskFigures[]): string {
  const share = (count: number): string => `${((100 * count) / Math.max(1, tasks.length)).toFixed(1)} %`;
  const having = (...outcomes: TaskFigures["outcome"][]): number =>
    tasks.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const recalls = tasks.flatMap(({ recall }) => recall ?? []);
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const tokens = (of: "inputTokens" | "outputTokens"): string => {
    const sorted = tasks.map((task) => task[of]).toSorted((one, other) => one - other);
    return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0).toLocaleString("en");
  };
  const first = having("first try", "refused rightly");
  return [
    `${set}: ${tasks.length} tasks`,
    `selection recall ${recalls.length === 0 ? "unknown" : `${(100 * mean(recalls)).toFixed(1)} %`}`,
    `median tokens ${tokens("inputTokens")} in, ${tokens("outputTokens")} out`,
    `first try ${share(first)}`,
    `after repair ${share(first + having("after repair"))}`,
    `false refusals ${share(having("refused wrongly"))}`,
  ].join(", ");
}

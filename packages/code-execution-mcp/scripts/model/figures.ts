/** How one task went. */
export interface TaskFigures {
  id: string;
  outcome: "first try" | "after repair" | "failed" | "refused rightly" | "refused wrongly";
  /** The share of the tools it needs that the model was told of at first. `undefined` where none is labelled. */
  recall?: number | undefined;
  /** The same share with tools that it was told the names of, or was told of when it said that it lacked one. */
  reach?: number | undefined;
  inputTokens: number;
  outputTokens: number;
  /** The outcome of a task that was not done. */
  detail?: string | undefined;
}

/** Token costs of the answers to searches. */
export interface SearchFigures {
  tools: number;
  /** The tokens of each answer to a search that a tool here fits. */
  answered: number[];
  /** The tokens of each answer to a search for what no tool does. */
  unanswered: number[];
  /** The searches whose answers lack the tool. */
  missed: string[];
}

/** Prints what searches came to. */
export function searchSummary({ tools, answered, unanswered, missed }: SearchFigures): string {
  const spread = (tokens: number[]): string => {
    const sorted = tokens.toSorted((one, other) => one - other);
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
    return `${sorted.length}: median ${at(0.5)}, p90 ${at(0.9)}, sum ${sorted.reduce((sum, one) => sum + one, 0)}`;
  };
  return [
    `${tools} tools`,
    `tokens of answers with a tool that fits, ${spread(answered)}`,
    `without one, ${spread(unanswered)}`,
    `missed: ${missed.length === 0 ? "none" : missed.join("; ")}`,
  ].join("\n");
}

/** Prints what a set of tasks came to. */
export function summaryOf(set: string, tasks: readonly TaskFigures[]): string {
  const share = (count: number): string => `${((100 * count) / Math.max(1, tasks.length)).toFixed(1)} %`;
  const having = (...outcomes: TaskFigures["outcome"][]): number =>
    tasks.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const mean = (of: "recall" | "reach"): string => {
    const known = tasks.flatMap((task) => task[of] ?? []);
    const sum = known.reduce((all, one) => all + one, 0);
    return known.length === 0 ? "unknown" : `${((100 * sum) / known.length).toFixed(1)} %`;
  };
  const tokens = (of: "inputTokens" | "outputTokens"): string => {
    const sorted = tasks.map((task) => task[of]).toSorted((one, other) => one - other);
    return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0).toLocaleString("en");
  };
  const first = having("first try", "refused rightly");
  return [
    `${set}: ${tasks.length} tasks`,
    `needed tools described at first ${mean("recall")}`,
    `in reach ${mean("reach")}`,
    `median tokens ${tokens("inputTokens")} in, ${tokens("outputTokens")} out`,
    `first try ${share(first)}`,
    `after repair ${share(first + having("after repair"))}`,
    `false refusals ${share(having("refused wrongly"))}`,
  ].join(", ");
}

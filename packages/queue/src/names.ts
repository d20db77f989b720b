/** Braces keep all names of a queue in one slot of a cluster. */
export const DEFAULT_PREFIX = "{cem}";
export const QUEUE = "runs";

/** How long what a run told is kept after it has ended, for a host that asks again with the same key. */
export const KEEP_RESULTS_MS = 3_600_000;
/** How long the last word is kept about a run of a customer who was deleted. */
export const KEEP_GONE_MS = 120_000;
/** How long it is kept while the run goes on and tells nothing. */
export const KEEP_RUN_MS = 86_400_000;

/** The names in Redis that belong to one run. */
export interface RunNames {
  /** The stream of what its worker tells. */
  messages: string;
  /** The stream of what its worker is told. */
  replies: string;
  /** The worker's right to go on: a number that grows with each attempt. */
  attempt: string;
}

export function namesOf(prefix: string, run: string): RunNames {
  const base = `${prefix}:run:${run}`;
  return { messages: `${base}:messages`, replies: `${base}:replies`, attempt: `${base}:attempt` };
}

import type { AgentEvent, Redactor, TaskResult } from "@cem/core";

/** Facts of a run, passed to watchers before it begins. */
export interface RunFacts {
  /** The task, or the code. */
  input: string;
  /** Owner that may see the run; the client where there are no owners. */
  audience: string;
  session: string | undefined;
  redactor: Redactor | undefined;
}

/** Follows one run. What it throws fails the run, so it must not. */
export interface RunWatcher {
  onEvent: (event: AgentEvent) => void;
  /** Called after a question came or was answered. */
  onQuestions: () => void;
  /** Called at the end, without a result where the agent threw. */
  onEnd: (result: TaskResult | undefined, error?: unknown) => void;
}

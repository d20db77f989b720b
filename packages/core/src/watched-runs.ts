import type { AgentEvent, TaskResult } from "./agent.ts";
import type { Redactor } from "./redaction.ts";

/** What those who watch runs are told of one before it begins. */
export interface RunFacts {
  /** The task, or the code. */
  input: string;
  /** Who may see the run: the owner where there are owners, else the client. */
  audience: string;
  session: string;
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

import type { Agent, AgentEvent, Redactor, SkillStore, StateStore, TaskResult } from "@cem/core";
import type { ElicitAnswer, ElicitRequest } from "@cem/core";

/** A question of a run. Those of `sample` ask the client's model, not a person. */
export type RunQuestion = ElicitRequest | { mode: "sample" };

/** The open questions of a run. */
export interface RunQuestions {
  readonly all: ReadonlyMap<string, RunQuestion>;
  answer(answers: ReadonlyMap<string, ElicitAnswer>): void;
}

/** A run under way on the server. */
export interface WatchableRun {
  readonly id: string;
  readonly kind: "task" | "code";
  readonly since: Date;
  readonly questions: RunQuestions;
  /** Absent for a run that nobody may see. */
  readonly facts: RunFacts | undefined;
  /** Cancels the run. */
  end(reason: unknown): void;
}

/** What is known of a run before it begins. */
export interface RunFacts {
  /** The task, or the code. */
  input: string;
  /** Who may see the run: a customer, or a client. */
  audience: string;
  session: string;
  redactor: Redactor | undefined;
}

/** Follows one run. */
export interface RunWatcher {
  onEvent: (event: AgentEvent) => void;
  onQuestions: () => void;
  onEnd: (result: TaskResult | undefined, error?: unknown) => void;
}

/** What belongs to the client that a request comes from. */
export interface ConsoleClient {
  /** Whose runs the client may see. */
  readonly audience: string;
  readonly session: string;
  readonly agent: Pick<Agent, "discoverTools" | "searchTools">;
  readonly state?: StateStore | undefined;
  readonly skills?: Pick<SkillStore, "list" | "get"> | undefined;
  readonly redactor?: Redactor | undefined;
  /** Starts a run without waiting for it. */
  launch(kind: "task" | "code", input: string): { readonly id: string };
}

/** The server that a console belongs to. `Identity` is what its authorization says of a client. */
export interface ConsoleServer<Identity> {
  readonly runs: {
    /** Has each later run watched for which the function returns a watcher. */
    watch(watcherOf: (run: WatchableRun) => RunWatcher | undefined): void;
  };
  openClient(identity: Identity): Promise<ConsoleClient>;
}

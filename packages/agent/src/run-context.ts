import type { ExecuteOptions } from "@cem/core";
import type { RunProgress } from "./run-progress.ts";
import type { Stages } from "./stages.ts";

/** Context shared by the stages of one run. */
export interface RunContext {
  stages: Stages;
  options: ExecuteOptions;
  /** Aborts when the caller cancels the run or the pipeline is disposed. */
  signal: AbortSignal;
  progress: RunProgress;
  /** The id of the run, as logs name it. */
  id: string;
}

/** Code on its way through review and sandbox. */
export interface Program {
  code: string;
  origin: "rules" | "llm" | "given";
  /** Whether its types need no check, since it is calls alone that satisfy the schemas. */
  isChecked?: boolean | undefined;
}

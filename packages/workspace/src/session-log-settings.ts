import type { Redact } from "./session-task.ts";

export interface SessionLogSettings {
  /** Absolute host path of the folder that the guest sees as `/workspace`. */
  workspaceDir: string;
  /** The folder that holds the folder `sessions`. Default: the workspace. */
  logDir?: string | undefined;
  /** Whether that folder is still the same. Where it is not, nothing is written. */
  isThere?: (() => Promise<boolean>) | undefined;
  customerUid?: string | undefined;
  /** The session to go on with, for runs that name none: `session_001`, `1`, or `last`. */
  resume?: string | undefined;
  /** Gives the number of the next session, where other machines write logs, too. Taken ones are passed over. */
  nextNumber?: (() => Promise<number>) | undefined;
  redact?: Redact | undefined;
  /** Receives why a log could not be written. Runs go on without it. */
  onProblem?: ((error: unknown) => void) | undefined;
}

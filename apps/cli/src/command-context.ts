import type { Answer } from "./answer.ts";
import type { CommandIo } from "./command-io.ts";
import type { Output } from "./terminal.ts";

/** What a command is given beside its arguments. */
export interface CommandContext {
  io: CommandIo;
  /** Aborts when the user or the system asks the command to stop. */
  signal: AbortSignal;
  /** Asks the command to stop, as Ctrl-C does. */
  interrupt: () => void;
  /** Where progress is shown as it happens. Absent when only the answer is wanted. */
  live: Output | undefined;
}

/** A command with its arguments. */
export type RunCommand = (context: CommandContext) => Promise<Answer>;

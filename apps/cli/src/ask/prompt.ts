import { createInterface } from "node:readline/promises";
import type { Writable } from "node:stream";
import type { CommandContext, InputStream } from "../io/terminal.ts";

/** Asks for one line. */
export type AskLine = (question: string) => Promise<string>;

/** The streams of questions, and how questions end. */
export interface PromptSettings {
  input: InputStream;
  output: Writable;
  /** Aborts an open question, which then rejects with an AbortError. */
  signal: AbortSignal;
  /** Called for Ctrl-C, which applies to the whole program. */
  interrupt: () => void;
}

/**
 * Opens the keyboard for the questions that `work` asks. A question is one plain line that is not redrawn, so output of the
 * running code stays on the screen.
 *
 * @param ended - The result if the input ends before an answer, as with Ctrl-D.
 */
export async function withPrompt<T>(
  { input, output, signal, interrupt }: PromptSettings,
  work: (ask: AskLine) => Promise<T>,
  ended: T,
): Promise<T> {
  signal.throwIfAborted();
  const lines = createInterface({ input, output, terminal: input.isTTY === true });
  const closed = new AbortController();
  lines.once("close", () => closed.abort());
  // While a line is read, the terminal delivers Ctrl-C as a key instead of a signal.
  lines.on("SIGINT", interrupt);
  const either = AbortSignal.any([signal, closed.signal]);
  try {
    return await work((question) => lines.question(question, { signal: either }));
  } catch (error) {
    if (closed.signal.aborted && !signal.aborted) return ended;
    throw error;
  } finally {
    lines.close();
  }
}

/** Asks a person. Without a terminal, and at the end of the input, the answer is no. */
export async function askYesNo(question: string, { io, signal, interrupt }: CommandContext) {
  if (io.stdin.isTTY !== true) return false;
  const settings = { input: io.stdin, output: io.stderr, signal, interrupt };
  const answer = await withPrompt(settings, (ask) => ask(`\n  ${question} [y/N] `), "no");
  return /^\s*y(?:es)?\s*$/iu.test(answer);
}

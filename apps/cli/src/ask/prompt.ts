import { createInterface } from "node:readline/promises";
import type { Writable } from "node:stream";
import type { CommandContext, InputStream } from "../io/terminal.ts";

/** Asks for one line. Rejects with {@link InputEnded} at the end of the input, which Ctrl-D makes. */
export type AskLine = (question: string) => Promise<string>;

/** The input ended before an answer came. */
export class InputEnded extends Error {}

/** Where questions are asked and answered, and how they end. */
export interface PromptSettings {
  input: InputStream;
  output: Writable;
  /** Aborts an open question, which then rejects with an AbortError. */
  signal: AbortSignal;
  /** Called for Ctrl-C, which is meant for the whole program. */
  interrupt: () => void;
}

/**
 * Opens the keyboard for the questions that `work` asks. A question is one plain line that is not redrawn, so what the
 * running code prints meanwhile stays on the screen.
 */
export async function withPrompt<T>(
  { input, output, signal, interrupt }: PromptSettings,
  work: (ask: AskLine) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const lines = createInterface({ input, output, terminal: input.isTTY === true });
  const closed = new AbortController();
  lines.once("close", () => closed.abort());
  // While a line is read, the terminal hands Ctrl-C over as a key instead of sending a signal.
  lines.on("SIGINT", interrupt);
  const ask: AskLine = async (question) => {
    try {
      return await lines.question(question, { signal: AbortSignal.any([signal, closed.signal]) });
    } catch (error) {
      if (closed.signal.aborted && !signal.aborted) throw new InputEnded();
      throw error;
    }
  };
  try {
    return await work(ask);
  } finally {
    lines.close();
  }
}

/** Asks a person. Without one at the keyboard, and at the end of the input, the answer is no. */
export async function askYesNo(
  question: string,
  { io, signal, interrupt }: CommandContext,
): Promise<boolean> {
  if (io.stdin.isTTY !== true) return false;
  const settings = { input: io.stdin, output: io.stderr, signal, interrupt };
  try {
    const answer = await withPrompt(settings, (ask) => ask(`\n  ${question} [y/N] `));
    return /^\s*y(?:es)?\s*$/iu.test(answer);
  } catch (error) {
    if (error instanceof InputEnded) return false;
    throw error;
  }
}

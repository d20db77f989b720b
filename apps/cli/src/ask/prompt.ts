import { createInterface, type Interface } from "node:readline/promises";
import { setTimeout as delay } from "node:timers/promises";
import { holdOutput, type CommandContext } from "../io/terminal.ts";

export type AskLine = (question: string) => Promise<string>;

/** The streams of questions, and how Ctrl-C stops the whole program. */
export type Asking = Pick<CommandContext, "io" | "interrupt" | "live">;

/** Keys typed until so many milliseconds after the text of the first question do not answer it. */
const DROP_MS = 100;
const CTRL_C = 3;

/**
 * Opens the keyboard for the questions that `work` asks. A question is one plain line that is not redrawn. Output of the
 * running code is held meanwhile, and keys that were typed before the first question are dropped. Later ones belong to
 * the same form, whose fields may be filled in quickly.
 *
 * @param signal - Aborts an open question, which then rejects with an AbortError.
 * @param ended - The result if the input ends before an answer, as with Ctrl-D.
 */
export async function withPrompt<T>(
  asking: Asking,
  signal: AbortSignal,
  work: (ask: AskLine) => Promise<T>,
  ended: T,
): Promise<T> {
  signal.throwIfAborted();
  const { stdin: input, stderr: output } = asking.io;
  const closed = new AbortController();
  const close = (): void => closed.abort();
  const either = AbortSignal.any([signal, closed.signal]);
  let lines: Interface | undefined;
  const open = async (): Promise<Interface> => {
    await dropTyped(asking);
    if (input.readableEnded) close();
    const opened = createInterface({ input, output, terminal: input.isTTY === true });
    // While a line is read, the terminal delivers Ctrl-C as a key instead of a signal.
    return opened.once("close", close).on("SIGINT", asking.interrupt);
  };
  const ask: AskLine = async (question) => {
    lines ??= await open();
    return lines.question(question, { signal: either });
  };
  const release = holdOutput(asking);
  try {
    return await work(ask);
  } catch (error) {
    if (closed.signal.aborted && !signal.aborted) return ended;
    throw error;
  } finally {
    lines?.close();
    release();
  }
}

/** Drops what was typed before the question could be read, except Ctrl-C. */
async function dropTyped({ io: { stdin }, interrupt }: Asking): Promise<void> {
  if (stdin.setRawMode === undefined) return;
  const drop = (typed: Buffer): void => {
    if (typed.includes(CTRL_C)) interrupt();
  };
  // Otherwise, keys could only be read after the end of their line, and would be shown.
  stdin.setRawMode(true);
  stdin.on("data", drop).resume();
  await delay(DROP_MS);
  stdin.off("data", drop);
}

export function isYes(typed: string): boolean {
  return /^\s*y(?:es)?\s*$/iu.test(typed);
}

/** Asks a person. Without a terminal, and at the end of the input, the answer is no. */
export async function askYesNo(question: string, context: CommandContext): Promise<boolean> {
  if (context.io.stdin.isTTY !== true) return false;
  return isYes(await withPrompt(context, context.signal, (ask) => ask(`\n  ${question} [y/N] `), "no"));
}

import type { CommandContext } from "./command-context.ts";
import { InputEnded, withPrompt } from "./prompt.ts";

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

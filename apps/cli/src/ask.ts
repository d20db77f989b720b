import { createInterface } from "node:readline/promises";

/** Asks a person. Without one at the keyboard, and at the end of the input, the answer is no. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
  try {
    const answer = await Promise.race([reader.question(`\n  ${question} [y/N] `, { signal }), ended]);
    return /^\s*y(?:es)?\s*$/iu.test(answer);
  } finally {
    reader.close();
  }
}

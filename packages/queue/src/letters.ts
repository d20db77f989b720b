import { seal, unseal } from "@cem/store";
import type { SealingKey } from "@cem/store";

/** Turns what passes through Redis into text and back. */
export interface Letters {
  write(context: string, content: unknown): string;
  /** What was written, as the one who wrote it knows. */
  read(context: string, text: string): unknown;
}

/** Letters as JSON, which are sealed where there are keys. A sealed one opens in its own place only. */
export function createLetters(keys: readonly SealingKey[] = []): Letters {
  if (keys.length === 0) {
    return {
      write: (_, content) => JSON.stringify(content),
      read: (_, text) => JSON.parse(text) as unknown,
    };
  }
  return {
    write: (context, content) =>
      seal(keys, Buffer.from(context), Buffer.from(JSON.stringify(content))).toString("base64"),
    read: (context, text) =>
      JSON.parse(
        unseal(keys, Buffer.from(context), Buffer.from(text, "base64"), context).toString(),
      ) as unknown,
  };
}

import { readFileSync } from "node:fs";
import { leftOutOfBundle } from "@cem/core/files";

// One folder above this file, and above the built file.
const FOLDER = new URL("../prompts/", import.meta.url);

/** Reads a file of `prompts/` and replaces its `{{names}}` by values. */
export function readPrompt(name: string, values: Readonly<Record<string, string>> = {}): string {
  const file = new URL(`${name}.txt`, FOLDER);
  try {
    const text = readFileSync(file, "utf8").trim();
    return text.replaceAll(/\{\{(\w+)\}\}/gu, (_, key: string) => values[key] ?? "");
  } catch (error) {
    throw leftOutOfBundle(file, error);
  }
}

import { readFileSync } from "node:fs";

// One folder above this file, and above the built file.
const FOLDER = new URL("../prompts/", import.meta.url);

const read = new Map<string, string>();

/** Reads a file of `prompts/` and replaces its `{{names}}` by values. */
export function readPrompt(name: string, values: Readonly<Record<string, string>> = {}): string {
  let text = read.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`${name}.txt`, FOLDER), "utf8").trim();
    read.set(name, text);
  }
  return text.replaceAll(/\{\{(\w+)\}\}/gu, (_, key: string) => values[key] ?? "");
}

import { readFileSync } from "node:fs";

// One folder above this file, and above what is built of it.
const FOLDER = new URL("../prompts/", import.meta.url);

const read = new Map<string, string>();

/** Reads a file of `prompts/` and puts values in the place of its `{{names}}`. */
export function readPrompt(name: string, values: Readonly<Record<string, string>> = {}): string {
  let text = read.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`${name}.txt`, FOLDER), "utf8").trim();
    read.set(name, text);
  }
  return text.replaceAll(/\{\{(\w+)\}\}/gu, (_, key: string) => values[key] ?? "");
}

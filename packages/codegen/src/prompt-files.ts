import { readFileSync } from "node:fs";

// One folder above this file, and above what is built of it.
const FOLDER = new URL("../prompts/", import.meta.url);

/** The names of the files in `prompts/`. */
type PromptName =
  | "call-option"
  | "call"
  | "calls-made"
  | "data"
  | "named-tools"
  | "no-tools"
  | "program"
  | "repair"
  | "returned-nothing";

const read = new Map<PromptName, string>();

/** Reads a prompt and puts values in the place of its `{{names}}`. */
export function readPrompt(name: PromptName, values: Readonly<Record<string, string>> = {}): string {
  let text = read.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`${name}.txt`, FOLDER), "utf8").trim();
    read.set(name, text);
  }
  return text.replaceAll(/\{\{(\w+)\}\}/gu, (_, key: string) => values[key] ?? "");
}

import type { RawToolDefinition } from "@cem/tool-files";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

/** `peak`: the most a model had in its context at once. `billed`: all it read and wrote, over all turns. */
export interface Cost {
  peak: number;
  billed: number;
}

export type DirectTurn = { call: string; result: string }[];

export function count(text: string): number {
  return countTokens(text, { disallowedSpecial: new Set() });
}

/** Tokens that a model reads for these tools. */
export function definitionTokens(definitions: readonly RawToolDefinition[]): number {
  let sum = 0;
  for (const { name, description, inputSchema } of definitions)
    sum += count(JSON.stringify({ name, description, inputSchema }));
  return sum;
}

/** Every turn reads the definitions, the task and all calls and results before it. */
export function direct(
  definitions: number,
  task: string,
  turns: readonly DirectTurn[],
  answer: string,
): Cost {
  let context = definitions + count(task);
  let billed = 0;
  for (const turn of turns) {
    const written = turn.reduce((sum, { call }) => sum + count(call), 0);
    billed += context + written;
    context += written + turn.reduce((sum, { result }) => sum + count(result), 0);
  }
  const last = count(answer);
  return { peak: context + last, billed: billed + context + last };
}

interface Report {
  tools: number;
  rows: { task: string; directAll: Cost; directServers: Cost; directUsed: Cost; code: Cost }[];
  dearerThanUsedOnly: number;
  dearerThanAll: number;
  upFront: { tools: number; direct: number; code: number }[];
}

export function printTable({ tools, rows, dearerThanAll, dearerThanUsedOnly, upFront }: Report): void {
  const cell = ({ peak, billed }: Cost): string => `${peak} / ${billed}`.padStart(16);
  const heads = [`all ${tools}`, "servers needed", "tools used", "code"]
    .map((head) => head.padStart(16))
    .join("");
  const lines = [
    `Tokens, peak / billed${" ".repeat(19)}${heads}`,
    ...rows.map(
      ({ task, directAll, directServers, directUsed, code }) =>
        `${task.slice(0, 38).padEnd(40)}${[directAll, directServers, directUsed, code].map(cell).join("")}`,
    ),
    `Dearer with code: ${dearerThanAll} of ${rows.length} than direct with all tools, ${dearerThanUsedOnly} than with only the tools used`,
    ...upFront.map((one) => `Up front with ${one.tools} tools: ${one.direct} direct, ${one.code} with code`),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

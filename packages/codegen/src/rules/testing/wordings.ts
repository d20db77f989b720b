import { readFileSync } from "node:fs";
import type { ToolDefinition } from "@cem/core";
import { otherTools, realTools, sampleTools, serverTools } from "./tools.ts";

/** Tools, and tasks for which rules write code with them. */
export const wordings = JSON.parse(readFileSync(new URL("wordings.json", import.meta.url), "utf8")) as Record<
  "sample" | "other" | "servers" | "real",
  string[]
>;

export const wordingTools: Readonly<Record<keyof typeof wordings, readonly ToolDefinition[]>> = {
  sample: sampleTools,
  other: [...sampleTools, ...otherTools],
  servers: serverTools,
  real: realTools,
};

/** All tasks of the tests with their tools. */
export function testTasks(): { task: string; tools: readonly ToolDefinition[] }[] {
  return (Object.keys(wordings) as (keyof typeof wordings)[]).flatMap((set) =>
    wordings[set].map((task) => ({ task, tools: wordingTools[set] })),
  );
}

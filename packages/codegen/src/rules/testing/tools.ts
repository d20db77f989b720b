import { readFileSync } from "node:fs";
import type { ToolDefinition } from "@cem/core";

function read(file: string): ToolDefinition[] {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")) as ToolDefinition[];
}

/** The tools of the sample servers and skills in this repository. */
export const sampleTools: readonly ToolDefinition[] = read("./sample-tools.json");

/** Tools such as other people's servers have. None of them runs. */
export const otherTools: readonly ToolDefinition[] = read("./other-tools.json");

/** Tools of real servers for git, a knowledge graph and an echo, of which some change things. */
export const serverTools: readonly ToolDefinition[] = read("./server-tools.json");

/** The definitions of real servers' tools: everything, filesystem and memory, and such as those of git, GitHub, Slack, time, fetch. */
export const realTools: readonly ToolDefinition[] = read("./real-tools.json");

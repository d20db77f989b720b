import { createRulesGenerator } from "@cem/codegen/rules";
import type { GeneratedCode, GenerationRefused, ToolDefinition } from "@cem/core";

/** The outcome of planning a task, with the tools in use by their places in the list that was given. */
export type Planned = (Omit<GeneratedCode, "uses"> & { uses: readonly number[] }) | GenerationRefused;

/** Plans a task by rules, on the thread that it is called on. */
export async function plan(task: string, tools: readonly ToolDefinition[]): Promise<Planned> {
  const generated = await createRulesGenerator().generate({ task, tools });
  if (generated.status === "refused") return generated;
  return { ...generated, uses: generated.uses.map((tool) => tools.indexOf(tool)) };
}

import type { CodeGenerator, GenerateRequest, ToolDefinition } from "@cem/core";

/** A generator, and the tools that it was told of at its last first attempt. */
export interface ObservedGenerator {
  generator: CodeGenerator;
  told: () => readonly ToolDefinition[];
}

/** Notes which tools a generator is told of. */
export function observe(generator: CodeGenerator): ObservedGenerator {
  let told: readonly ToolDefinition[] = [];
  let requests = new Set<string>();
  return {
    told: () => told,
    generator: {
      specificationVersion: "v1",
      toolBudget: generator.toolBudget,
      generate(request: GenerateRequest) {
        if (!requests.has(request.task)) told = [...request.tools, ...(request.otherTools ?? [])];
        requests = new Set([request.task]);
        return generator.generate(request);
      },
    },
  };
}

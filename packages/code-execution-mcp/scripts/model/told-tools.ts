import type { CodeGenerator, GenerateRequest, ToolDefinition } from "@cem/core";

/** The tools that a generator was told of for its last task. */
export interface ToldTools {
  /** Those described at the first attempt. */
  first: readonly ToolDefinition[];
  /** Those described or named at any attempt. */
  all: readonly ToolDefinition[];
}

/** Notes which tools a generator is told of. */
export function observe(generator: CodeGenerator): { generator: CodeGenerator; told: () => ToldTools } {
  let told: ToldTools = { first: [], all: [] };
  return {
    told: () => told,
    generator: {
      specificationVersion: "v1",
      toolBudget: generator.toolBudget,
      generate(request: GenerateRequest) {
        const { tools, otherTools = [], namedTools = [], spent } = request;
        const described = [...tools, ...otherTools];
        if (spent === undefined) told = { first: described, all: [] };
        told = { ...told, all: [...told.all, ...described, ...namedTools] };
        return generator.generate(request);
      },
    },
  };
}

import { createPipeline } from "@cem/agent";
import type { CodeGenerator, Isolation, RunOutcome, Sandbox, TaskResult, ToolDefinition } from "@cem/core";
import { CemError } from "@cem/core";
import { createSelector } from "@cem/selector";
import { createTypeChecker } from "@cem/type-check";
import { idOf } from "../retrieval-sets.ts";
import type { LabelledQuery, RetrievalSet } from "../retrieval-sets.ts";
import type { TaskFigures } from "./figures.ts";
import { observe } from "./told-tools.ts";

const isolation: Isolation = { level: "permissions", sandbox: "none", mechanisms: [] };

/** Accepts every program and runs none: the servers of a set are not at hand. */
const nothingRuns: Sandbox = {
  isolation,
  async run(): Promise<RunOutcome> {
    const report = { output: "", outputDroppedBytes: 0, toolCalls: [], toolResults: [], isolation };
    return { ...report, status: "completed", value: "not run", durationMs: 0 };
  },
  async dispose() {},
};

/**
 * Has a model write code for the tasks of a set. Code is good where its types are right and it names a tool of each group that its
 * task is labelled with.
 */
export async function measureSet(
  { byId, queries }: RetrievalSet,
  model: CodeGenerator,
  most: number,
): Promise<TaskFigures[]> {
  const tools = [...byId.values()];
  const { generator, told } = observe(model);
  const agent = createPipeline({
    catalog: {
      specificationVersion: "v1",
      list: async () => ({
        servers: [{ name: "all", description: "", kind: "host", tools }],
        problems: [],
        version: "1",
      }),
    },
    selector: createSelector(),
    generator,
    guard: { specificationVersion: "v1", review: async () => ({ allowed: true, findings: [] }) },
    sandbox: nothingRuns,
    typeChecker: async () => createTypeChecker(),
  });
  const figures: TaskFigures[] = [];
  try {
    for (const query of queries.slice(0, most)) {
      const result = await agent.executeTask(query.query).catch((error: unknown) => {
        if (!CemError.isInstance(error)) throw error;
        return error;
      });
      const { first, all } = told();
      const recalls = { recall: recallOf(query, first), reach: recallOf(query, all) };
      figures.push({ id: query.query, ...recalls, ...judge(query, byId, result) });
    }
  } finally {
    await agent.dispose();
  }
  return figures;
}

/** The share of the labelled groups of which the model was told a tool. */
function recallOf(query: LabelledQuery, told: readonly ToolDefinition[]): number {
  const ids = new Set(told.map(idOf));
  const groups = groupsOf(query);
  return groups.filter((group) => group.some((id) => ids.has(id))).length / groups.length;
}

function judge(
  query: LabelledQuery,
  byId: RetrievalSet["byId"],
  result: TaskResult | CemError,
): Omit<TaskFigures, "id"> {
  if (CemError.isInstance(result)) {
    return { outcome: "failed", detail: result.message, inputTokens: 0, outputTokens: 0 };
  }
  const { attempts, code, error, status, usage } = result;
  const { inputTokens = 0, outputTokens = 0, requests = 0 } = usage ?? {};
  const tokens = { inputTokens, outputTokens };
  if (status === "refused" && code === "") {
    return { outcome: "refused wrongly", detail: error?.message, ...tokens };
  }
  const isNamed = (id: string): boolean => {
    const tool = byId.get(id);
    return tool !== undefined && code.includes(tool.module) && code.includes(tool.name);
  };
  const isComplete = groupsOf(query).every((group) => group.some(isNamed));
  if (status !== "success" || !isComplete) {
    return { outcome: "failed", detail: error?.message ?? `it leaves tools out: ${code}`, ...tokens };
  }
  return { outcome: attempts === 1 && requests === 1 ? "first try" : "after repair", ...tokens };
}

function groupsOf({ gold, groups = gold.map((id) => [id]) }: LabelledQuery): string[][] {
  return groups;
}

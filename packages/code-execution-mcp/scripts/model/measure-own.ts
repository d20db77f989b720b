import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { loadConfig } from "@cem/config";
import type { ConfigInput } from "@cem/config";
import { CemError, toolId } from "@cem/core";
import type { TaskResult, ToolDefinition, TypeChecker } from "@cem/core";
import { createTypeChecker } from "@cem/type-check";
import { temporaryFolder } from "../../../../scripts/temporary-folder.ts";
import { createAgent } from "../../src/create-agent.ts";
import { createConfiguredModel } from "../../src/wiring/stages/generators.ts";
import type { TaskFigures } from "./figures.ts";
import { createOwnServers } from "./own-servers.ts";
import { OWN_FILES } from "./own-tasks.ts";
import type { OwnTask } from "./own-tasks.ts";
import { observe } from "./told-tools.ts";

const root = path.resolve(import.meta.dirname, "../../../..");
const serversDir = path.join(root, "servers");
const skillsDir = path.join(root, "skills");

/** Runs tasks with real tools: the sample servers in files and those of our own, with fresh data for each task. */
export async function measureOwn(
  tasks: readonly OwnTask[],
  llm: NonNullable<ConfigInput["llm"]>,
): Promise<TaskFigures[]> {
  const typeChecker = createTypeChecker({ serversDir, skillsDir });
  const figures: TaskFigures[] = [];
  try {
    for (const task of tasks) figures.push(await measureTask(task, llm, typeChecker));
  } finally {
    await typeChecker.dispose();
  }
  return figures;
}

async function measureTask(
  task: OwnTask,
  llm: NonNullable<ConfigInput["llm"]>,
  typeChecker: TypeChecker,
): Promise<TaskFigures> {
  const folder = temporaryFolder("cem-eval-model");
  for (const [name, text] of Object.entries(OWN_FILES)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  const config: ConfigInput = {
    execution: { workspaceDir: folder, serversDir, skillsDir },
    optimizations: { toolCache: false },
    // Answers are judged by their values, and nobody is there to say yes.
    guardrails: { piiDetection: false, approvals: task.isNotApproved === true ? ["destructive"] : [] },
    llm: { ...llm, enabled: true },
  };
  const { config: complete } = await loadConfig({ configFile: false, config });
  const { generator, told } = observe(await createConfiguredModel(complete.llm));
  const tools = createOwnServers();
  const agent = createAgent({ configFile: false, config, generator, tools, typeChecker, oneRun: true });
  try {
    const result = await agent.executeTask(task.task).catch((error: unknown) => {
      if (!CemError.isInstance(error)) throw error;
      return error;
    });
    const { first, all } = told();
    const needed = task.calls ?? [];
    const shareIn = (tools: readonly ToolDefinition[]): number | undefined => {
      const names = new Set(tools.map(toolId));
      return needed.length === 0
        ? undefined
        : needed.filter((name) => names.has(name)).length / needed.length;
    };
    const { usage } = CemError.isInstance(result) ? {} : result;
    const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
    return {
      id: task.id,
      ...(CemError.isInstance(result)
        ? { outcome: "failed" as const, detail: result.message }
        : judge(task, result)),
      recall: shareIn(first),
      reach: shareIn(all),
      inputTokens,
      outputTokens,
    };
  } finally {
    await agent.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

function judge(task: OwnTask, result: TaskResult): Pick<TaskFigures, "outcome" | "detail"> {
  if (task.isNotApproved === true) {
    const { code } = (result.error?.details["toolError"] ?? {}) as { code?: string };
    const isEnd = code === "NOT_APPROVED" && result.usage?.requests === 1;
    return isEnd ? { outcome: "refused rightly" } : { outcome: "failed", detail: result.error?.message };
  }
  const isRefusal = result.status === "refused" && result.code === "";
  if (isRefusal)
    return task.isImpossible
      ? { outcome: "refused rightly" }
      : { outcome: "refused wrongly", detail: result.error?.message };
  const missing = missingIn(task, result);
  if (task.isImpossible === true || result.status !== "success" || missing.length > 0) {
    const detail = result.error?.message ?? `without ${missing.join(", ")}: ${JSON.stringify(result.value)}`;
    return { outcome: "failed", detail };
  }
  return { outcome: result.usage?.requests === 1 ? "first try" : "after repair" };
}

/** Expectations of a task that its result does not meet. */
function missingIn(
  { calls = [], expects = [] }: OwnTask,
  { output, toolCalls, value }: TaskResult,
): string[] {
  const text = `${JSON.stringify(value)} ${output}`;
  const numbers = (text.match(/-?\d+(?:\.\d+)?/gu) ?? []).map(Number);
  const called = new Set(toolCalls.map(({ server, tool }) => `${server}.${tool}`));
  const isThere = (expected: string | number): boolean =>
    typeof expected === "number"
      ? numbers.some((found) => Math.abs(found - expected) < 0.01)
      : text.toLowerCase().includes(expected.toLowerCase());
  return [
    ...expects.filter((expected) => !isThere(expected)).map(String),
    ...calls.filter((name) => !called.has(name)),
  ];
}

/* oxlint-disable unicorn/no-thenable -- `then` is a list of steps in the form of workflows */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createPipeline } from "@cem/agent";
import { CemError } from "@cem/core";
import type { JsonObject, JsonValue, WorkflowStepKind } from "@cem/core";
import { createWorkflows } from "../src/index.ts";
import type { Workflows, WorkflowsSettings } from "../src/index.ts";

const GATE_POLL_MS = 20;

/** A step that leaves one character in a file of its name for each time it was done. */
export function countKind(
  folder: string,
  { ms = 0, gate }: { ms?: number; gate?: string | undefined } = {},
): WorkflowStepKind {
  return {
    specificationVersion: "v1",
    name: "count",
    configSchema: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
    async run({ file, value = null }) {
      appendFileSync(path.join(folder, file as string), "x");
      if (ms > 0) await delay(ms);
      if (gate !== undefined) await opened(gate);
      return value;
    },
  };
}

/** How often a step was done. */
export function countOf(folder: string, file: string): number {
  const name = path.join(folder, file);
  return existsSync(name) ? readFileSync(name, "utf8").length : 0;
}

async function opened(gate: string): Promise<void> {
  while (!existsSync(gate)) await delay(GATE_POLL_MS);
}

/** Splits uncertain steps of {@link TEN_STEPS}, as a person would: those that were executed, and the others. */
export function uncertainOutcomes(
  folder: string,
  steps: readonly string[],
): { done: JsonObject; repeat: string[] } {
  const wasDone = steps.filter((step) => countOf(folder, fileOf(step)) > 0);
  const done = Object.fromEntries(wasDone.map((step) => [step, step === "d" ? [1, 2] : null]));
  return { done, repeat: steps.filter((step) => !wasDone.includes(step)) };
}

/** The file in which a step counts: of `each[0].e` it is `e1`. */
function fileOf(step: string): string {
  const index = /\[(\d+)\]/u.exec(step)?.[1];
  const name = step.slice(step.lastIndexOf(".") + 1);
  return index === undefined ? name : `${name}${Number(index) + 1}`;
}

/** Steps that fail in each way. */
const failKind: WorkflowStepKind = {
  specificationVersion: "v1",
  name: "fail",
  configSchema: { type: "object" },
  async run({ how, times = Infinity }, { step, signal, folder }): Promise<JsonValue> {
    appendFileSync(path.join(folder, "tries"), "x");
    if (countOf(folder, "tries") > Number(times)) return "worked";
    switch (how) {
      case "code":
        throw new CemError("TOOL_FAILED", `${step} failed as it was told`);
      case "throw":
        throw new TypeError("not a CemError");
      case "timeout":
        throw new CemError("TOOL_TIMEOUT", "the tool did not answer");
      case "sent":
        throw new CemError("FORM_NOT_FILLED", "it was sent", { details: { isUncertain: true } });
      case "hang":
        await delay(600_000, undefined, { ref: false });
        return null;
      case "abort":
        await delay(600_000, undefined, { signal, ref: false });
        return null;
      default:
        if (typeof how === "string" && /^[A-Z]+_[A-Z]/u.test(how)) throw new CemError(how, "it failed so");
        return how ?? null;
    }
  },
};

/** Creates workflows whose steps need no agent. */
export function sampleWorkflows(folder: string, settings: Partial<WorkflowsSettings> = {}): Workflows {
  const agent = createPipeline(() => Promise.reject(new Error("These workflows call no tools.")));
  const stepKinds = [countKind(folder), failKind];
  return createWorkflows({ agent, runsDir: path.join(folder, "runs"), stepKinds, ...settings });
}

/** A workflow that is data. */
export function sourceOf(steps: JsonObject[], more: JsonObject = {}): { value: JsonObject; origin: string } {
  return { value: { name: "sample", steps, ...more }, origin: "sample" };
}

/** Ten steps of every shape, each of which is to be done once. */
export const TEN_STEPS: JsonObject = {
  name: "ten",
  steps: [
    ...["a", "b", "c"].map((name) => ({ name, type: "count", config: { file: name } })),
    { name: "d", type: "count", needs: ["a", "b"], config: { file: "d", value: [1, 2] } },
    {
      name: "each",
      type: "loop",
      config: {
        items: "steps.d",
        parallel: 2,
        steps: [{ name: "e", type: "count", config: { file: "e${{ item }}" } }],
      },
    },
    {
      name: "choose",
      type: "condition",
      config: {
        condition: "size(steps.each) == 2",
        then: [{ name: "f", type: "count", config: { file: "f" } }],
      },
    },
    { name: "g", type: "count", needs: ["choose"], config: { file: "g" } },
    { name: "h", type: "count", needs: ["g"], config: { file: "h" } },
    { name: "i", type: "count", needs: ["h", "c"], config: { file: "i" } },
  ],
};

/** The files in which {@link TEN_STEPS} count. */
export const TEN_FILES = ["a", "b", "c", "d", "e1", "e2", "f", "g", "h", "i"];

import { CemError } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import pMap, { pMapSkip } from "p-map";
import { evaluate, resolve } from "../expressions/template.ts";
import { firstFailure } from "./failures.ts";
import { listOf } from "./requests.ts";
import type { StepRequest } from "./requests.ts";
import { innerScope, scopeOf } from "./step-scope.ts";
import type { ListScope } from "./step-scope.ts";

const DEFAULT_MAX_ITERATIONS = 1_000;

/** Runs a list of steps for each of some items, or while a condition holds. Its value is a list of what each came to. */
export async function runLoop(request: StepRequest): Promise<JsonValue> {
  return request.step.config["while"] === undefined ? forEach(request) : whileTrue(request);
}

async function forEach(request: StepRequest): Promise<JsonValue> {
  const { items: written, parallel = 1 } = request.step.config;
  const items =
    typeof written === "string" ? evaluate(written, request.scope) : resolve(written ?? [], request.scope);
  if (!Array.isArray(items)) {
    throw new CemError("EXPRESSION_FAILED", "The items of a loop have to be a list.", {
      details: { type: items === null ? "null" : typeof items },
    });
  }
  const failures: unknown[] = [];
  const results = await pMap(
    items,
    async (item, index) => {
      // Those under way are finished, and no more begun.
      if (failures.length > 0) return pMapSkip;
      try {
        return await iterate(request, { item, index });
      } catch (error) {
        failures.push(error);
        return pMapSkip;
      }
    },
    { concurrency: Number(parallel) },
  );
  if (failures.length > 0) throw firstFailure(failures);
  return results;
}

async function whileTrue(request: StepRequest): Promise<JsonValue> {
  const { while: condition, max_iterations: most = DEFAULT_MAX_ITERATIONS } = request.step.config;
  const results: JsonValue[] = [];
  let previous: JsonValue = null;
  for (let index = 0; ; index += 1) {
    const goesOn = evaluate(condition as string, { ...request.scope, index, previous });
    if (typeof goesOn !== "boolean") {
      throw new CemError("EXPRESSION_FAILED", "What stands at `while` came to neither true nor false.");
    }
    if (!goesOn) return results;
    if (index >= Number(most)) {
      throw new CemError(
        "EXPRESSION_FAILED",
        `The loop did not end within its ${JSON.stringify(most)} iterations.`,
        {
          details: { maxIterations: most },
        },
      );
    }
    previous = await iterate(request, { index, previous });
    results.push(previous);
  }
}

async function iterate(request: StepRequest, loop: ListScope["loop"]): Promise<JsonValue> {
  const { at, step, outer, scope } = request;
  at.signal.throwIfAborted();
  const inner = innerScope(outer, loop);
  const results = await request.runList({
    ...listOf(request),
    steps: step.bodies[0]?.steps ?? [],
    scope: inner,
    prefix: `${at.path}[${loop.index}].`,
  });
  const { result } = step.config;
  return result === undefined ? results : resolve(result, scopeOf(inner, scope["step"] as JsonObject));
}

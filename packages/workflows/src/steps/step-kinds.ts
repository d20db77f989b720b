import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { CemError, fromErrorInfo, toErrorInfo } from "@cem/core";
import type { JsonObject, JsonValue, WorkflowStepContext, WorkflowStepKind } from "@cem/core";
import { PRIVATE_FOLDER } from "@cem/core/files";
import pMap, { pMapSkip } from "p-map";
import { schemaProblem, variablesOf } from "../definition/value-schema.ts";
import type { Workflow, WorkflowStep } from "../definition/workflow.ts";
import { evaluate, resolve } from "../expressions/template.ts";
import { callProgram, codeProgram, findStepTool } from "./call-code.ts";
import type { Execution, StepAtWork } from "./execution.ts";
import { firstFailure, toolErrorOf } from "./failures.ts";
import { innerScope, scopeOf, type ListScope, type StepRequest } from "./requests.ts";

export async function executeStep(request: StepRequest): Promise<JsonValue> {
  switch (request.step.type) {
    case "tool_call":
      return callTool(request);
    case "code_execution":
      return executeCode(request);
    case "condition":
      return runCondition(request);
    case "loop":
      return request.step.config["while"] === undefined ? forEach(request) : whileTrue(request);
    case "workflow":
      return runPart(request);
    default:
      return runKind(request);
  }
}

async function callTool({ execution, step, scope, at }: StepRequest): Promise<JsonValue> {
  const { server, tool, arguments: args = {} } = resolve(step.config, scope);
  return callNamed(execution, at, { server: server as string | undefined, tool: tool as string, args });
}

async function callNamed(
  execution: Execution,
  at: StepAtWork,
  call: { server?: string | undefined; tool: string; args: JsonValue },
): Promise<JsonValue> {
  const definition = findStepTool(call, await execution.catalog.get(), execution.settings.toolNames);
  try {
    return await execution.run(callProgram(definition, call.args), at, "off");
  } catch (error) {
    // For a generated program with one call, only the tool's error matters: its lines mean nothing to the user.
    const info = toErrorInfo(error);
    const ofTool = toolErrorOf(info);
    // A tool file may have called other tools before.
    const uncertainty = info.details["isUncertain"] === true ? { isUncertain: true } : {};
    if (ofTool !== undefined)
      throw fromErrorInfo({ ...ofTool, details: { ...ofTool.details, ...uncertainty } });
    if (info.code !== "CODE_THREW") throw error;
    const [message = ""] = String(info.details["message"]).split("\nCaused by ");
    throw new CemError("TOOL_FAILED", message, {
      details: { server: definition.server, tool: definition.name, ...uncertainty },
    });
  }
}

async function executeCode({ execution, step, scope, at }: StepRequest): Promise<JsonValue> {
  const { code, inputs } = step.config;
  const given = resolve(inputs ?? {}, scope);
  return execution.run(codeProgram(code as string, given), at);
}

/** Runs a list of steps within a step. @returns the value of the step's `result`, else the results of the list by name. */
async function runWithin(
  { execution, workflow, at, step, scope, runList }: StepRequest,
  inner: ListScope,
  steps: readonly WorkflowStep[] = [],
  prefix = `${at.path}.`,
): Promise<JsonValue> {
  const results = await runList({ execution, workflow, at, steps, scope: inner, prefix });
  const { result } = step.config;
  return result === undefined ? results : resolve(result, scopeOf(inner, scope["step"] as JsonObject));
}

async function runCondition(request: StepRequest): Promise<JsonValue> {
  const { step, outer, scope } = request;
  const { condition } = step.config;
  const met = typeof condition === "boolean" ? condition : evaluate(condition as string, scope);
  if (typeof met !== "boolean") {
    const value = JSON.stringify(met)?.slice(0, 80);
    const message = `The condition came to ${value}, which is neither true nor false.`;
    throw new CemError("EXPRESSION_FAILED", message);
  }
  const taken = step.bodies.find(({ name }) => name === (met ? "then" : "else"));
  const inner = innerScope(outer);
  for (const { steps } of step.bodies) for (const { name } of steps) inner.steps[name] = null;
  return runWithin(request, inner, taken?.steps);
}

/** Runs another workflow. The step's value is the outputs of that workflow. */
async function runPart(request: StepRequest): Promise<JsonValue> {
  const { execution, step, scope, at, outer } = request;
  const { workflow: name, variables = {} } = step.config;
  const part = execution.settings.parts.get(name as string) as Workflow;
  const inner: ListScope = {
    ...outer,
    variables: await variablesOf(part, resolve(variables, scope) as JsonObject),
    steps: {},
    errors: {},
    loop: {},
  };
  const guardrails = part.guardrails === undefined ? at.guardrails : [...at.guardrails, part.guardrails];
  const results = await request.runList({
    execution,
    workflow: part,
    at: { ...at, guardrails },
    steps: part.steps,
    scope: inner,
    prefix: `${at.path}.`,
  });
  return outputsOf(part, inner, results);
}

export function outputsOf({ outputs }: Workflow, scope: ListScope, results: JsonObject): JsonObject {
  return outputs === undefined ? results : resolve(outputs, scopeOf(scope, {}));
}

async function runKind(request: StepRequest): Promise<JsonValue> {
  const { execution, step, scope, at } = request;
  const kind = execution.settings.kinds.get(step.type) as WorkflowStepKind;
  const config = resolve(step.config, scope);
  const problem = await schemaProblem(config, kind.configSchema);
  if (problem !== undefined)
    throw new CemError("WORKFLOW_INVALID", `The configuration of step ${at.path} ${problem}`, {
      details: { step: at.path, problems: [problem] },
    });
  const value = await kind.run(config, contextOf(request));
  return execution.tokenize(asJson(value ?? null, at.path));
}

/** The value of a step, as its journal keeps it. @throws CemError `RESULT_NOT_JSON` */
function asJson(value: unknown, step: string): JsonValue {
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) throw new TypeError(`it is a ${typeof value}`);
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    const [reason] = toErrorInfo(cause).message.split("\n");
    const message = `Step ${step} came to a value that JSON can't represent: ${reason}. It has to return plain data.`;
    throw new CemError("RESULT_NOT_JSON", message, { details: { step }, cause });
  }
}

/** Creates the folder of a step, unless the run's folder is gone: a deleted owner must stay deleted. */
function folderFor(execution: Execution, step: string): string {
  const files = path.join(execution.settings.folder, "files");
  const folder = path.join(files, execution.idempotencyKey(step));
  for (const one of [files, folder]) if (!existsSync(one)) mkdirSync(one, { mode: PRIVATE_FOLDER });
  return folder;
}

function contextOf({ execution, at, scope }: StepRequest): WorkflowStepContext {
  let folder: string | undefined;
  const { emit, redactor, session } = execution.settings;
  return {
    step: at.path,
    signal: at.signal,
    idempotencyKey: execution.idempotencyKey(at.path),
    // Created lazily: few steps keep files.
    get folder() {
      return (folder ??= folderFor(execution, at.path));
    },
    variables: scope["variables"] as JsonObject,
    callTool: (call) => callNamed(execution, at, call),
    runCode: (code, inputs = {}) => execution.run(codeProgram(code, inputs), at),
    ask: execution.asker(at),
    tokenize: (data) => execution.tokenize(data),
    ...(redactor !== undefined && {
      keep: (value: string | number, type: string) => redactor.keep(value, type, { session }),
    }),
    detokenize: (data, target) => execution.detokenize(data, target, at),
    progress: (progress) => emit({ type: "step-progressed", step: at.path, progress }),
    log: (message) => emit({ type: "step-logged", step: at.path, message }),
  };
}

const DEFAULT_MAX_ITERATIONS = 1_000;

/** Runs a list of steps for each item. Its value is the list of results. */
async function forEach(request: StepRequest): Promise<JsonValue> {
  const { items: written, parallel = 1 } = request.step.config;
  const items =
    typeof written === "string" ? evaluate(written, request.scope) : resolve(written ?? [], request.scope);
  if (!Array.isArray(items))
    throw new CemError("EXPRESSION_FAILED", "The items of a loop have to be a list.", {
      details: { type: items === null ? "null" : typeof items },
    });
  const failures: unknown[] = [];
  const results = await pMap(
    items,
    async (item, index) => {
      // Iterations under way are finished, and no more are begun.
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

/** Runs a list of steps while a condition holds. Its value is the list of results. */
async function whileTrue(request: StepRequest): Promise<JsonValue> {
  const { while: condition, max_iterations: most = DEFAULT_MAX_ITERATIONS } = request.step.config;
  const results: JsonValue[] = [];
  let previous: JsonValue = null;
  for (let index = 0; ; index += 1) {
    const goesOn = evaluate(condition as string, { ...request.scope, index, previous });
    if (typeof goesOn !== "boolean")
      throw new CemError("EXPRESSION_FAILED", "What stands at `while` came to neither true nor false.");
    if (!goesOn) return results;
    if (index >= Number(most)) {
      const message = `The loop did not end within its ${JSON.stringify(most)} iterations.`;
      throw new CemError("EXPRESSION_FAILED", message, { details: { maxIterations: most } });
    }
    previous = await iterate(request, { index, previous });
    results.push(previous);
  }
}

async function iterate(request: StepRequest, loop: ListScope["loop"]): Promise<JsonValue> {
  const { at, step, outer } = request;
  at.signal.throwIfAborted();
  const prefix = `${at.path}[${loop.index}].`;
  return runWithin(request, innerScope(outer, loop), step.bodies[0]?.steps, prefix);
}

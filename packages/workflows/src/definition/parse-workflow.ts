import { DefinitionProblems, type ContentProblem as WorkflowProblem } from "@cem/config/definitions";
import { isObject, MS_PER_SECOND, type JsonObject, type JsonSchema, type JsonValue } from "@cem/core";
import type { z } from "zod";
import type { DocumentPath } from "../expressions/expression.ts";
import { BODIES, CONFIG_SCHEMAS, stepSchema, workflowSchema } from "./workflow.ts";
import type { Retry, Workflow, WorkflowSource, WorkflowStep, WorkflowVariable } from "./workflow.ts";

/** A problem of a workflow. */
export type { WorkflowProblem };

const DEFAULT_MAX_PARALLEL = 4;
const DEFAULT_ATTEMPTS = 3;
const DEFAULT_DELAY_SECONDS = 1;
const DEFAULT_BACKOFF = 2;
const MAX_BODY_DEPTH = 16;
const MAX_STEPS = 10_000;

const VARIABLE_TYPES = ["string", "number", "integer", "boolean", "array", "object"];

/** A workflow that matches the schema, and the collector of further problems. */
export interface ParsedWorkflow {
  workflow: Workflow;
  problems: DefinitionProblems;
  values: { value: JsonValue; schema: JsonSchema; path: DocumentPath }[];
}

/** Parses a workflow. @throws CemError `WORKFLOW_INVALID`; for a text, with the line of each error. */
export function parseWorkflow(source: WorkflowSource): ParsedWorkflow {
  const problems = new DefinitionProblems("WORKFLOW_INVALID", source.origin);
  const value = "text" in source ? problems.read(source.text) : source.value;
  const written = problems.check(workflowSchema, value);
  problems.throwIfAny();
  if (written === undefined) throw new Error("A workflow without problems is read.");
  const steps = readSteps(written.steps, problems);
  problems.throwIfAny();
  const values: ParsedWorkflow["values"] = [];
  const { name, description = "", version = "1.0", variables = {}, timeout } = written;
  const workflow: Workflow = {
    name,
    description,
    version: String(version),
    variables: Object.fromEntries(
      Object.entries(variables).map(
        ([key, value]) => [key, variableOf(key, value, problems, values)] as const,
      ),
    ),
    steps,
    guardrails: written.guardrails,
    outputs: written.outputs,
    timeoutMs: timeout === undefined ? undefined : timeout * MS_PER_SECOND,
    maxParallel: written.max_parallel ?? DEFAULT_MAX_PARALLEL,
    source: value as JsonObject,
  };
  return { workflow, problems, values };
}

function readSteps(written: unknown, problems: DefinitionProblems): WorkflowStep[] {
  let count = 0;

  const readList = (value: unknown, path: DocumentPath, depth: number): WorkflowStep[] => {
    if (!Array.isArray(value)) {
      problems.add(path, "has to be a list of steps.");
      return [];
    }
    if (depth > MAX_BODY_DEPTH) {
      problems.add(path, `is nested deeper than ${MAX_BODY_DEPTH} levels.`);
      return [];
    }
    return value.flatMap((item: unknown, index) => readStep(item, [...path, index], depth) ?? []);
  };

  const readStep = (value: unknown, path: DocumentPath, depth: number): WorkflowStep | undefined => {
    count += 1;
    if (count === MAX_STEPS + 1) problems.add(path, `is one of more than ${MAX_STEPS} steps.`);
    if (count > MAX_STEPS) return undefined;
    const read = problems.check(stepSchema, value, path);
    if (read === undefined) return undefined;
    const { name, type, timeout, guardrails, needs = [], retry, on_error: onError } = read;
    return {
      name,
      type,
      ...readConfig(type, read.config ?? {}, [...path, "config"], depth),
      guardrails,
      onError: onError ?? (retry === undefined ? "stop" : "retry"),
      retry: retryOf(retry),
      timeoutMs: timeout === undefined ? undefined : timeout * MS_PER_SECOND,
      needs,
      isIdempotent: read.idempotent,
      path,
    };
  };

  /** The `config` without its lists of steps, and these. */
  const readConfig = (type: string, value: JsonObject, path: DocumentPath, depth: number) => {
    const names = Object.hasOwn(BODIES, type) ? (BODIES[type] ?? []) : [];
    const bodies = names
      .filter((name) => value[name] !== undefined)
      .map((name) => ({ name, steps: readList(value[name], [...path, name], depth + 1) }));
    const config = Object.fromEntries(Object.entries(value).filter(([key]) => !names.includes(key)));
    if (isBuiltIn(type)) problems.check<unknown>(CONFIG_SCHEMAS[type], config, path);
    if (type === "loop" && (config["items"] === undefined) === (config["while"] === undefined))
      problems.add(path, "needs either `items` or `while`.");
    if (names.length > 0 && bodies.length === 0)
      problems.add(path, `lacks its steps: ${names.map((name) => `\`${name}\``).join(" or ")}.`);
    return { config, bodies };
  };

  return readList(written, ["steps"], 0);
}

export function isBuiltIn(type: string): type is keyof typeof CONFIG_SCHEMAS {
  return Object.hasOwn(CONFIG_SCHEMAS, type);
}

function retryOf(written: z.output<typeof stepSchema>["retry"]): Retry {
  const { attempts, delay = DEFAULT_DELAY_SECONDS, backoff = DEFAULT_BACKOFF } = written ?? {};
  const factor = backoff === "fixed" ? 1 : backoff === "exponential" ? DEFAULT_BACKOFF : backoff;
  return { attempts: attempts ?? DEFAULT_ATTEMPTS, delayMs: delay * MS_PER_SECOND, backoff: factor };
}

/** Reads a variable: either a JSON Schema with a `type`, or a value, which is the default. */
function variableOf(
  name: string,
  value: JsonValue,
  problems: DefinitionProblems,
  values: ParsedWorkflow["values"],
): WorkflowVariable {
  if (isObject(value) && value["type"] !== undefined) {
    const schema: JsonSchema = value;
    const { type, default: standard } = value;
    if (!VARIABLE_TYPES.some((known) => known === type)) {
      const message = `is not one of ${VARIABLE_TYPES.join(", ")}. A value with a \`type\` of its own is written { type: object, default: … }.`;
      problems.add(["variables", name, "type"], message);
    }
    if (standard !== undefined)
      values.push({ value: standard, schema, path: ["variables", name, "default"] });
    return { schema, default: standard };
  }
  const type = Array.isArray(value) ? "array" : typeof value;
  return { schema: { ...(value !== null && { type }), default: value }, default: value };
}

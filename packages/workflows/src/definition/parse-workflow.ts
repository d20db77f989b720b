import { DefinitionProblems } from "@cem/config/yaml";
import type { ContentProblem as WorkflowProblem } from "@cem/config/yaml";
import { isObject } from "@cem/core";
import type { JsonObject, JsonSchema, JsonValue } from "@cem/core";
import type { z } from "zod";
import type { DocumentPath } from "../expressions/expression.ts";
import { schemaProblems } from "./value-schema.ts";
import { BODIES, CONFIG_SCHEMAS, stepSchema, workflowSchema } from "./workflow.ts";
import type { Retry, StepBody, Workflow, WorkflowStep, WorkflowVariable } from "./workflow.ts";

/** One thing that is wrong with a workflow. */
export type { WorkflowProblem };

const MS_PER_SECOND = 1_000;
const DEFAULT_MAX_PARALLEL = 4;
const DEFAULT_ATTEMPTS = 3;
const DEFAULT_DELAY_SECONDS = 1;
const DEFAULT_BACKOFF = 2;
/** The deepest that lists of steps are nested. */
const MAX_BODY_DEPTH = 16;
const MAX_STEPS = 10_000;

const VARIABLE_TYPES = ["string", "number", "integer", "boolean", "array", "object"];

/** A workflow that has the right form, and where to tell what else is wrong with it. */
export interface ParsedWorkflow {
  workflow: Workflow;
  problems: DefinitionProblems;
}

/**
 * Parses a workflow in YAML or JSON.
 *
 * @param origin - The file's name, for messages.
 * @throws CemError `WORKFLOW_INVALID` with the line of each error.
 */
export function parseWorkflowText(text: string, origin: string): ParsedWorkflow {
  const problems = new DefinitionProblems("WORKFLOW_INVALID", origin);
  return parse(problems.read(text), problems);
}

/**
 * Parses a workflow that is data already.
 *
 * @throws CemError `WORKFLOW_INVALID`
 */
export function parseWorkflowValue(value: unknown, origin: string): ParsedWorkflow {
  return parse(value, new DefinitionProblems("WORKFLOW_INVALID", origin));
}

function parse(value: unknown, problems: DefinitionProblems): ParsedWorkflow {
  const written = problems.check(workflowSchema, value);
  problems.throwIfAny();
  if (written === undefined) throw new Error("A workflow without problems is read.");
  const reader = new StepReader(problems);
  const steps = reader.list(written.steps, ["steps"], 0);
  problems.throwIfAny();
  const { name, description = "", version = "1.0", variables = {}, timeout } = written;
  const workflow: Workflow = {
    name,
    description,
    version: String(version),
    variables: Object.fromEntries(
      Object.entries(variables).map(([key, value]) => [key, variableOf(key, value, problems)] as const),
    ),
    steps,
    guardrails: written.guardrails,
    outputs: written.outputs,
    timeoutMs: timeout === undefined ? undefined : timeout * MS_PER_SECOND,
    maxParallel: written.max_parallel ?? DEFAULT_MAX_PARALLEL,
    isTool: written.mcp_tool ?? false,
    source: value as JsonObject,
  };
  return { workflow, problems };
}

/** Reads lists of steps, with those within them. */
class StepReader {
  readonly #problems: DefinitionProblems;
  #count = 0;

  constructor(problems: DefinitionProblems) {
    this.#problems = problems;
  }

  list(value: unknown, path: DocumentPath, depth: number): WorkflowStep[] {
    if (!Array.isArray(value)) {
      this.#problems.add(path, "has to be a list of steps.");
      return [];
    }
    if (depth > MAX_BODY_DEPTH) {
      this.#problems.add(path, `is nested deeper than ${MAX_BODY_DEPTH} levels.`);
      return [];
    }
    return value.flatMap((item: unknown, index) => this.#step(item, [...path, index], depth) ?? []);
  }

  #step(value: unknown, path: DocumentPath, depth: number): WorkflowStep | undefined {
    this.#count += 1;
    if (this.#count === MAX_STEPS + 1) this.#problems.add(path, `is one of more than ${MAX_STEPS} steps.`);
    if (this.#count > MAX_STEPS) return undefined;
    const written = this.#problems.check(stepSchema, value, path);
    if (written === undefined) return undefined;
    const { type, timeout, on_error: onError } = written;
    const { config, bodies } = this.#configOf(type, written.config ?? {}, [...path, "config"], depth);
    return {
      name: written.name,
      type,
      config,
      bodies,
      guardrails: written.guardrails,
      onError: onError ?? (written.retry === undefined ? "stop" : "retry"),
      retry: retryOf(written.retry),
      timeoutMs: timeout === undefined ? undefined : timeout * MS_PER_SECOND,
      needs: written.needs ?? [],
      isIdempotent: written.idempotent,
      path,
    };
  }

  /** The `config` without its lists of steps, and these. */
  #configOf(
    type: string,
    written: JsonObject,
    path: DocumentPath,
    depth: number,
  ): { config: JsonObject; bodies: StepBody[] } {
    const names = Object.hasOwn(BODIES, type) ? (BODIES[type] ?? []) : [];
    const bodies = names
      .filter((name) => written[name] !== undefined)
      .map((name) => ({ name, steps: this.list(written[name], [...path, name], depth + 1) }));
    const config = Object.fromEntries(Object.entries(written).filter(([key]) => !names.includes(key)));
    if (isBuiltIn(type)) this.#problems.check<unknown>(CONFIG_SCHEMAS[type], config, path);
    if (type === "loop" && (config["items"] === undefined) === (config["while"] === undefined))
      this.#problems.add(path, "needs either `items` or `while`.");
    if (names.length > 0 && bodies.length === 0)
      this.#problems.add(path, `lacks its steps: ${names.map((name) => `\`${name}\``).join(" or ")}.`);
    return { config, bodies };
  }
}

/** Whether a type of steps is one that every workflow has. */
export function isBuiltIn(type: string): type is keyof typeof CONFIG_SCHEMAS {
  return Object.hasOwn(CONFIG_SCHEMAS, type);
}

function retryOf(written: z.output<typeof stepSchema>["retry"]): Retry {
  const { attempts, delay = DEFAULT_DELAY_SECONDS, backoff = DEFAULT_BACKOFF } = written ?? {};
  const factor = backoff === "fixed" ? 1 : backoff === "exponential" ? DEFAULT_BACKOFF : backoff;
  return { attempts: attempts ?? DEFAULT_ATTEMPTS, delayMs: delay * MS_PER_SECOND, backoff: factor };
}

/** A variable is declared by a JSON Schema with its `type`, or has a value, which is its default. */
function variableOf(name: string, value: JsonValue, problems: DefinitionProblems): WorkflowVariable {
  if (isObject(value) && value["type"] !== undefined) {
    const schema: JsonSchema = value;
    const { type, default: standard } = value;
    if (!VARIABLE_TYPES.some((known) => known === type)) {
      const message = `is none of ${VARIABLE_TYPES.join(", ")}. A value with a \`type\` of its own is written { type: object, default: … }.`;
      problems.add(["variables", name, "type"], message);
    }
    for (const problem of standard === undefined ? [] : schemaProblems(standard, schema))
      problems.add(["variables", name, "default"], problem);
    return { schema, default: standard };
  }
  const type = typeOf(value);
  return { schema: { ...(type !== undefined && { type }), default: value }, default: value };
}

function typeOf(value: JsonValue): string | undefined {
  if (value === null) return undefined;
  if (Array.isArray(value)) return "array";
  return typeof value;
}

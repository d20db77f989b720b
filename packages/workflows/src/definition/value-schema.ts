import { dottedPath } from "@cem/config/definitions";
import { CemError } from "@cem/core";
import type { JsonObject, JsonSchema, JsonValue } from "@cem/core";
import * as z from "zod";
import { bounded } from "../expressions/expression.ts";
import type { Workflow } from "./workflow.ts";

interface Check {
  schema: z.ZodType;
  /** Whether it has patterns or recursion, which may take very long. */
  isSlow: boolean;
}

const compiled = new WeakMap<JsonSchema, Check | undefined>();

/** The violations of a JSON Schema, as sentences. Parts of a schema that can't be checked allow anything. */
export function schemaProblems(value: JsonValue, schema: JsonSchema): string[] {
  const check = compile(schema);
  if (check === undefined) return [];
  const parse = () => check.schema.safeParse(value);
  const checked = check.isSlow ? bounded(parse) : parse();
  if (checked.success) return [];
  return checked.error.issues.map(({ message, path }) => {
    const where = path.length === 0 ? "" : ` at ${dottedPath(path)}`;
    return `is not as its schema wants it${where}: ${message}.`;
  });
}

function compile(schema: JsonSchema): Check | undefined {
  if (compiled.has(schema)) return compiled.get(schema);
  let check: Check | undefined;
  try {
    check = {
      schema: z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]),
      isSlow: /"(?:pattern|patternProperties|\$ref)"/u.test(JSON.stringify(schema)),
    };
  } catch {
    check = undefined;
  }
  compiled.set(schema, check);
  return check;
}

/** The JSON Schema of the inputs of a workflow run. */
export function inputSchemaOf({ variables }: Pick<Workflow, "variables">): JsonSchema {
  const entries = Object.entries(variables);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    required: entries.flatMap(([name, variable]) => (variable.default === undefined ? [name] : [])),
    additionalProperties: false,
  };
}

/**
 * The variables of a run: given values, else the defaults.
 *
 * @throws CemError `WORKFLOW_VARIABLES_INVALID`
 */
export function variablesOf(workflow: Pick<Workflow, "name" | "variables">, given: JsonObject): JsonObject {
  const known = Object.entries(workflow.variables);
  const problems = Object.keys(given)
    .filter((name) => !Object.hasOwn(workflow.variables, name))
    .map((name) => `${JSON.stringify(name)} is not one of its variables.`);
  const values = known.flatMap(([name, { schema, default: standard }]) => {
    const value = Object.hasOwn(given, name) ? given[name] : standard;
    if (value === undefined) {
      problems.push(`${JSON.stringify(name)} is not given.`);
      return [];
    }
    if (Object.hasOwn(given, name))
      problems.push(...schemaProblems(value, schema).map((problem) => `${JSON.stringify(name)} ${problem}`));
    return [[name, value] as const];
  });
  if (problems.length === 0) return Object.fromEntries(values);
  const names = known.map(([name]) => name).join(", ");
  throw new CemError(
    "WORKFLOW_VARIABLES_INVALID",
    `The variables of ${JSON.stringify(workflow.name)} can't be used: ${problems.join(" ")} ${names === "" ? "It has none." : `It has: ${names}.`}`,
    { details: { workflow: workflow.name, problems } },
  );
}

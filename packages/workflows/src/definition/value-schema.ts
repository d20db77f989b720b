import { CemError, Lazy, type JsonObject, type JsonSchema, type JsonValue } from "@cem/core";
import type { Workflow } from "./workflow.ts";

/** Loaded with the first value that has to be checked. */
const validator = new Lazy(async () => (await import("@cem/bridge")).createSchemaValidator());

const SINGULAR: Readonly<Record<string, string>> = { have: "has", are: "is" };

/** The first violation of a JSON Schema, as a sentence. Parts of a schema that can't be checked allow anything. */
export async function schemaProblem(value: JsonValue, schema: JsonSchema): Promise<string | undefined> {
  const prepared = await (await validator.get()).prepare(schema);
  const violation = prepared.validated ? prepared.check(value) : undefined;
  // The words are those for arguments, whose values are never repeated.
  const said = violation?.message.replace(
    /^they (\w+)/u,
    (_, verb: string) => `it ${SINGULAR[verb] ?? verb}`,
  );
  return said && `is not as its schema wants it: ${said.replace(/[^?]$/u, "$&.")}`;
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

/** The variables of a run: given values, else the defaults. @throws CemError `WORKFLOW_VARIABLES_INVALID` */
export async function variablesOf(workflow: Pick<Workflow, "name" | "variables">, given: JsonObject) {
  const known = Object.entries(workflow.variables);
  const problems = Object.keys(given)
    .filter((name) => !Object.hasOwn(workflow.variables, name))
    .map((name) => `${JSON.stringify(name)} is not one of its variables.`);
  const values: [name: string, value: JsonValue][] = [];
  for (const [name, { schema, default: standard }] of known) {
    const isGiven = Object.hasOwn(given, name);
    const value = isGiven ? given[name] : standard;
    if (value === undefined) problems.push(`${JSON.stringify(name)} is not given.`);
    else values.push([name, value]);
    const problem = isGiven && value !== undefined ? await schemaProblem(value, schema) : undefined;
    if (problem !== undefined) problems.push(`${JSON.stringify(name)} ${problem}`);
  }
  if (problems.length === 0) return Object.fromEntries(values);
  const names = known.map(([name]) => name).join(", ");
  throw new CemError(
    "WORKFLOW_VARIABLES_INVALID",
    `The variables of ${JSON.stringify(workflow.name)} can't be used: ${problems.join(" ")} ${names === "" ? "It has none." : `It has: ${names}.`}`,
    { details: { workflow: workflow.name, problems } },
  );
}

import type { JsonSchema, JsonValue } from "@cem/core";
import { describeViolation } from "./violation-text.ts";
import { CheckTooLong, loadSchemaCompiler } from "./schema-compiler.ts";
import type { CompiledSchema } from "./schema-compiler.ts";
import { prepareSchema } from "./schema-preparation.ts";

const MAX_REMEMBERED = 2_000;

/** What became of a schema: a check, or the reason why there is none. */
export type ArgumentCheck =
  | { validated: true; check: (args: JsonValue) => ArgumentViolation | undefined }
  | { validated: false; reason: string };

export interface ArgumentViolation {
  /** The argument, such as `filter.limit`. Empty for the arguments as a whole. */
  argument: string;
  message: string;
}

/** Checks arguments against the schemas of tools. Each schema is compiled once. */
export interface ArgumentValidator {
  prepare(schema: JsonSchema): Promise<ArgumentCheck>;
}

export function createArgumentValidator(): ArgumentValidator {
  const byIdentity = new WeakMap<JsonSchema, ArgumentCheck>();
  const byText = new Map<string, ArgumentCheck>();
  return {
    async prepare(schema) {
      const known = byIdentity.get(schema);
      if (known !== undefined) return known;
      const text = textOf(schema);
      const check = byText.get(text) ?? (await compile(schema));
      byIdentity.set(schema, check);
      if (byText.size >= MAX_REMEMBERED) byText.clear();
      byText.set(text, check);
      return check;
    },
  };
}

function textOf(schema: JsonSchema): string {
  try {
    return JSON.stringify(schema);
  } catch {
    return "nested too deeply";
  }
}

async function compile(original: JsonSchema): Promise<ArgumentCheck> {
  const prepared = prepareSchema(original);
  if (!prepared.ok) return { validated: false, reason: prepared.reason };
  const compiler = await loadSchemaCompiler();
  let compiled: CompiledSchema;
  try {
    compiled = compiler.compile(prepared.schema, prepared.dialect);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { validated: false, reason: `the schema can't be used: ${why.slice(0, 200)}` };
  }
  return {
    validated: true,
    check(args) {
      try {
        const violation = compiled(args);
        return violation === undefined ? undefined : describeViolation(violation);
      } catch (error) {
        const isTooLong = error instanceof CheckTooLong || error instanceof RangeError;
        if (!isTooLong) throw error;
        return { argument: "", message: "they are too large or too deeply nested to be checked" };
      }
    },
  };
}

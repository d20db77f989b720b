import { hash } from "node:crypto";
import type { JsonSchema, JsonValue } from "@cem/core";
import type { ArgumentViolation } from "./argument-violation.ts";
import { CheckTooLong, loadSchemaCompiler } from "./schema-compiler.ts";
import type { CompiledSchema } from "./schema-compiler.ts";
import { prepareSchema } from "./schema-preparation.ts";
import { describeViolation } from "./violation-text.ts";

/** Compiled schemas that are cached by their text. */
const MAX_CACHED_SCHEMAS = 2_000;

/** A compiled schema; or the reason why there is none, so that arguments go unchecked. */
export type ArgumentCheck =
  | {
      validated: true;
      /** Returns the first violation, or `undefined` when the arguments are valid. Takes bounded time. */
      check: (args: JsonValue) => ArgumentViolation | undefined;
    }
  | { validated: false; reason: string };

/** Validates arguments against JSON Schemas of tools. */
export interface ArgumentValidator {
  /** Compiles a schema. The result is cached, by the object and by its text. */
  prepare(schema: JsonSchema): Promise<ArgumentCheck>;
}

/** Loads what schemas are compiled with, ahead of the first one. */
export async function preloadArgumentValidation(): Promise<void> {
  await loadSchemaCompiler();
}

/**
 * Creates a validator for schemas and values that are both untrusted: compiling and checking take bounded time and
 * memory. A schema that can't be compiled within the bounds is not checked against.
 */
export function createArgumentValidator(): ArgumentValidator {
  const byIdentity = new WeakMap<JsonSchema, ArgumentCheck>();
  const byDigest = new Map<string, ArgumentCheck>();
  return {
    async prepare(schema) {
      const cached = byIdentity.get(schema);
      if (cached !== undefined) return cached;
      const digest = digestOf(schema);
      let check = byDigest.get(digest);
      if (check === undefined) {
        check = await compile(schema);
        if (byDigest.size >= MAX_CACHED_SCHEMAS) byDigest.clear();
        byDigest.set(digest, check);
      }
      byIdentity.set(schema, check);
      return check;
    },
  };
}

/** Stands for the text, which may be long. */
function digestOf(schema: JsonSchema): string {
  try {
    return hash("sha256", JSON.stringify(schema), "base64url");
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

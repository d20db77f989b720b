import { hash } from "node:crypto";
import type { JsonSchema, JsonValue } from "@cem/core";
import { CheckTooLong, loadSchemaCompiler, type CompiledSchema } from "./schema-compiler.ts";
import { prepareSchema, type PreparedSchema } from "./schema-preparation.ts";
import { describeViolation, type Subject, type Violation } from "./violation.ts";

/** Maximum number of compiled schemas that are cached by their text. */
const MAX_CACHED_SCHEMAS = 2_000;
/** Keywords that may reject a value because it matches a subschema. */
const FITS_FEWER = new Set(["oneOf", "not", "if", "contains"]);

/** A compiled schema, or the reason why there is none and values go unchecked. */
export type SchemaCheck =
  | {
      validated: true;
      /** The part of the schema that can't be used, if there is one, as a clause. */
      unvalidated?: string | undefined;
      /**
       * Returns the first violation, or `undefined` when the value is valid. Takes bounded time.
       *
       * @param subject - Whether the value is arguments or a result, which decides the wording of the violation. Default: `arguments`.
       */
      check: (value: JsonValue, subject?: Subject) => Violation | undefined;
    }
  | { validated: false; reason: string };

/** Validates arguments and results against JSON Schemas of tools. */
export interface SchemaValidator {
  /** Compiles a schema. Results are cached by object and by text; cached ones are returned synchronously. */
  prepare(schema: JsonSchema): SchemaCheck | Promise<SchemaCheck>;
}

/** Preloads the schema compiler. */
export async function preloadSchemaValidation(): Promise<void> {
  await loadSchemaCompiler();
}

/** Creates a validator of untrusted schemas and values, in bounded time and memory. Larger schemas go unchecked. */
export function createSchemaValidator(): SchemaValidator {
  const byIdentity = new WeakMap<JsonSchema, SchemaCheck>();
  const byDigest = new Map<string, SchemaCheck>();
  const prepareAnew = async (schema: JsonSchema): Promise<SchemaCheck> => {
    const digest = digestOf(schema);
    let check = byDigest.get(digest);
    if (check === undefined) {
      check = await compile(schema);
      if (byDigest.size >= MAX_CACHED_SCHEMAS) byDigest.clear();
      byDigest.set(digest, check);
    }
    byIdentity.set(schema, check);
    return check;
  };
  return { prepare: (schema) => byIdentity.get(schema) ?? prepareAnew(schema) };
}

/** A digest of the text, which may be long. */
function digestOf(schema: JsonSchema): string {
  try {
    return hash("sha256", JSON.stringify(schema), "base64url");
  } catch {
    return "nested too deeply";
  }
}

async function compile(original: JsonSchema): Promise<SchemaCheck> {
  const compiler = await loadSchemaCompiler();
  let prepared: PreparedSchema;
  let compiled: CompiledSchema;
  try {
    prepared = prepareSchema(original, compiler.pattern);
    if (!prepared.ok) return { validated: false, reason: prepared.reason };
    compiled = compiler.compile(prepared.schema, prepared.dialect);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { validated: false, reason: `the schema can't be used: ${why.slice(0, 200)}` };
  } finally {
    compiler.forgetPatterns();
  }
  try {
    compiled({}, false);
  } catch (error) {
    const reason = "the schema can't be used: its references have no end";
    if (error instanceof RangeError) return { validated: false, reason };
  }
  const [unusable] = prepared.unusable;
  return {
    validated: true,
    unvalidated: unusable && `${unusable.slice(0, 200)} can't be used; all else is checked`,
    check(value, subject = "arguments") {
      try {
        // Results are checked leniently: a tool has already done its work, and a text's format is no reason to lose the result.
        const violation = compiled(value, subject === "result");
        if (violation === undefined) return undefined;
        // A schema with parts left out matches more values, so these keywords may fail wrongly.
        if (unusable !== undefined && FITS_FEWER.has(violation.keyword)) return undefined;
        return describeViolation(violation, subject);
      } catch (error) {
        const isTooLong = error instanceof CheckTooLong || error instanceof RangeError;
        if (!isTooLong) throw error;
        const what = subject === "arguments" ? "they are" : "it is";
        const message = `${what} too large or too deeply nested to be checked`;
        return { path: "", message, unchecked: true };
      }
    },
  };
}

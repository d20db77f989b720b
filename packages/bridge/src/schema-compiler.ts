import type { Ajv, Format, ErrorObject, ValidateFunction } from "ajv";
import type { JsonSchema, JsonValue } from "@cem/core";
import { stringify } from "safe-stable-stringify";
import { CHECKPOINT_KEYWORD } from "./schema-preparation.ts";
import type { Dialect } from "./schema-preparation.ts";

/** Longer texts are not checked for a format. The patterns of formats may backtrack, which is harmless on short texts. */
const MAX_FORMAT_CHARACTERS = 2_048;
/** Schemas that one instance of Ajv compiles. It keeps a part of each for as long as it lives. */
const MAX_SCHEMAS_PER_INSTANCE = 1_000;
/** The maximum duration of a check, in milliseconds. */
const MAX_CHECK_MS = 500;
/** The maximum work of matching one text with a pattern: instructions of the pattern times characters. About 300 ms. */
const MAX_PATTERN_STEPS = 16_000_000;

/** Thrown out of a check that takes too long. */
export class CheckTooLong extends Error {}

/** Compiles a prepared schema. @throws Error when it can't be compiled. */
type CompileSchema = (schema: JsonSchema, dialect: Dialect) => CompiledSchema;

/**
 * Returns the first violation, or `undefined`.
 *
 * @throws CheckTooLong
 */
export type CompiledSchema = (value: JsonValue) => ErrorObject | undefined;

let loading: Promise<CompileSchema> | undefined;

/** Loads the validator on first use. */
export function loadSchemaCompiler(): Promise<CompileSchema> {
  loading ??= load();
  return loading;
}

async function load(): Promise<CompileSchema> {
  const { Ajv, Ajv2019, Ajv2020, fullFormats, RE2JS } = await import("./validators.ts");
  const formats = Object.fromEntries(
    Object.entries(fullFormats).map(([name, format]) => [name, limitFormat(format)]),
  );
  let deadline = 0;
  const assertInTime = (): void => {
    if (performance.now() > deadline) throw new CheckTooLong();
  };

  /** Patterns and values are both untrusted, so the engine must not backtrack, and a match can't be interrupted. */
  const createPattern = Object.assign(
    (pattern: string) => {
      const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
      const maxCharacters = MAX_PATTERN_STEPS / compiled.programSize();
      const test = (text: string): boolean => {
        if (text.length > maxCharacters) throw new CheckTooLong();
        assertInTime();
        return compiled.matcher(text).find();
      };
      // Ajv caches patterns by their text.
      return { test, toString: () => pattern };
    },
    { code: "" },
  );

  const createAjv = (Class: typeof Ajv): Ajv => {
    const ajv = new Class({
      strict: false,
      // Its keywords check their own values; to compile the schema of schemas takes 200 ms in each process.
      validateSchema: false,
      logger: false,
      verbose: true,
      ownProperties: true,
      formats,
      code: { regExp: createPattern },
    });
    ajv.addKeyword({
      keyword: CHECKPOINT_KEYWORD,
      errors: false,
      validate() {
        assertInTime();
        return true;
      },
    });
    // Keywords run in order, and this one has to come before those that follow references.
    const { rules } = ajv.RULES.rules.find((group) => group.rules.some(isCheckpoint)) ?? { rules: [] };
    rules.sort((a, b) => Number(isCheckpoint(b)) - Number(isCheckpoint(a)));
    // The built-in one compares each item with each other.
    ajv.removeKeyword("uniqueItems");
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      validate: (isWanted: boolean, items: JsonValue[]) => !isWanted || areUnique(items, assertInTime),
    });
    return ajv;
  };
  const classes = { "draft-07": Ajv, "2019-09": Ajv2019, "2020-12": Ajv2020 };
  const instances = new Map<Dialect, { ajv: Ajv; schemas: number }>();
  const instanceFor = (dialect: Dialect): Ajv => {
    let instance = instances.get(dialect);
    if (instance === undefined || instance.schemas >= MAX_SCHEMAS_PER_INSTANCE) {
      instance = { ajv: createAjv(classes[dialect]), schemas: 0 };
      instances.set(dialect, instance);
    }
    instance.schemas += 1;
    return instance.ajv;
  };

  return (schema, dialect) => {
    const ajv = instanceFor(dialect);
    let validate: ValidateFunction;
    try {
      validate = ajv.compile(schema);
    } finally {
      // Otherwise another server's schema could refer to this one by its `$id`.
      ajv.removeSchema(schema);
    }
    return (value) => {
      deadline = performance.now() + MAX_CHECK_MS;
      return validate(value) ? undefined : (validate.errors?.at(-1) ?? undefined);
    };
  };
}

function isCheckpoint(rule: { keyword: string }): boolean {
  return rule.keyword === CHECKPOINT_KEYWORD;
}

function limitFormat(format: Format): Format {
  const isForNumbers = (format as { type?: string }).type === "number";
  if (isForNumbers) return format;
  const check = toCheck(format);
  return (text: string) => text.length > MAX_FORMAT_CHARACTERS || check(text);
}

/** A format is a pattern, a function, an object with a function, or `true` for texts of any form. */
function toCheck(format: Format): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === "function") return format;
  if (typeof format === "object") return format.validate as (text: string) => boolean;
  return () => true;
}

function areUnique(items: readonly JsonValue[], assertInTime: () => void): boolean {
  const texts = items.map((item) => {
    assertInTime();
    return stringify(item);
  });
  return new Set(texts).size === items.length;
}

import type { Ajv, Format, ErrorObject, ValidateFunction } from "ajv";
import type { JsonSchema, JsonValue } from "@cem/core";
import { stringify } from "safe-stable-stringify";
import { CHECKPOINT_KEYWORD, type Dialect } from "./schema-preparation.ts";

/** Longer texts are not checked for a format. The patterns of formats may backtrack, which is harmless on short texts. */
const MAX_FORMAT_CHARACTERS = 2_048;
const MAX_CHECK_MS = 500;
/** The maximum work of matching one text with a pattern: instructions of the pattern times characters. About 300 ms. */
const MAX_PATTERN_STEPS = 16_000_000;

/** The maximum size of the patterns of one schema: about 100 ms to compile, and 4 MB. */
const MAX_PATTERN_SIZE = 20_000;

export class CheckTooLong extends Error {}

/** Returns the first violation, or `undefined`; leniently, without formats. @throws CheckTooLong */
export type CompiledSchema = (value: JsonValue, isLenient?: boolean) => ErrorObject | undefined;

let loading: ReturnType<typeof load> | undefined;

export function loadSchemaCompiler() {
  loading ??= load();
  return loading;
}

async function load() {
  const { Ajv, Ajv2019, Ajv2020, fullFormats, RE2JS } = await import("./validators.ts");
  let deadline = 0;
  let areFormatsChecked = true;
  // Many servers use `date-time` for times without an offset.
  const known = { ...fullFormats, "date-time": fullFormats["iso-date-time"], time: fullFormats["iso-time"] };
  const formats = Object.fromEntries(
    Object.entries(known).map(([name, format]) => [name, limitFormat(format, () => areFormatsChecked)]),
  );
  const assertInTime = (): void => {
    if (performance.now() > deadline) throw new CheckTooLong();
  };

  /** Patterns of the schema that is being compiled, each requested several times, and the remaining size budget. */
  const patterns = new Map<string, { test(text: string): boolean }>();
  let sizeLeft = MAX_PATTERN_SIZE;

  /** Patterns and values are both untrusted, so the engine must not backtrack, and a match can't be interrupted. */
  const createPattern = Object.assign(
    (pattern: string) => {
      const known = patterns.get(pattern);
      if (known !== undefined) return known;
      const size = sizeOf(pattern);
      if (size > sizeLeft) throw new Error("the schema's patterns are too large");
      sizeLeft -= size;
      const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
      const maxCharacters = MAX_PATTERN_STEPS / compiled.programSize();
      const test = (text: string): boolean => {
        if (text.length > maxCharacters) throw new CheckTooLong();
        assertInTime();
        return compiled.matcher(text).find();
      };
      // Ajv caches patterns by their text.
      const made = { test, toString: () => pattern };
      patterns.set(pattern, made);
      return made;
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
      // Otherwise 19.99 would not be a multiple of 0.01, since their quotient is inexact.
      multipleOfPrecision: 6,
      formats,
      // Otherwise a part would be compiled for each reference to it.
      inlineRefs: false,
      // The optimizer takes most of the time, which grows quadratically with the schema.
      code: { regExp: createPattern, optimize: false },
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
    // The built-in keyword compares all pairs of items.
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

  /** Compiles a prepared schema. @throws Error when it can't be compiled. */
  const compile = (schema: JsonSchema, dialect: Dialect): CompiledSchema => {
    // A separate instance, so that schemas of other servers can't reference its ids or conflict with them.
    const validate: ValidateFunction = createAjv(classes[dialect]).compile(schema);
    return (value, isLenient = false) => {
      deadline = performance.now() + MAX_CHECK_MS;
      areFormatsChecked = true;
      if (validate(value)) return undefined;
      // Checks with formats first: without them, several alternatives that differ only in format would match.
      areFormatsChecked = !isLenient;
      return isLenient && validate(value) ? undefined : (validate.errors?.at(-1) ?? undefined);
    };
  };
  const forgetPatterns = (): void => {
    patterns.clear();
    sizeLeft = MAX_PATTERN_SIZE;
  };
  /** `pattern` compiles a pattern alone. @throws Error when it can't be compiled. Call `forgetPatterns` after each schema. */
  return { compile, pattern: createPattern, forgetPatterns };
}

/** Escaped characters and character classes. */
const ONE_CHARACTER = /\\.|\[(?:\\.?|[^\]\\])*(?:\]|$)/gs;
/** Syntax that engines interpret differently. */
const AMBIGUOUS = /\\[QE]|\[\^?\]/;
const REPETITION = /\{(\d{1,4}),?(\d{0,4})\}|[^]/g;
/** Unicode properties, with hundreds of ranges; and, if case is ignored, ranges beyond ASCII, which are expanded. */
const LONG = /\\p/gi;
const LONG_IN_ANY_CASE = /\\p|-(?:\\|[^ -~])/gi;
const ANY_CASE = /\(\?[a-z]*i/i;

/** The base size of a pattern, without its instructions. */
const OWN_SIZE = 20;
const LONG_SIZE = 700;

/** An upper bound of a pattern's compiled instructions. Repetitions are expanded; the contents of character classes count once. */
function sizeOf(pattern: string): number {
  if (AMBIGUOUS.test(pattern) && pattern.includes("{")) return Infinity;
  const outer: number[] = [];
  let size = OWN_SIZE;
  /** The size of the last repeatable part. */
  let last = 0;
  const plain = pattern.replaceAll(ONE_CHARACTER, "x");
  for (const [token, least, most] of plain.matchAll(REPETITION)) {
    if (least !== undefined) {
      last *= Math.max(Number(least), Number(most)) + 1;
      size += last;
    } else if (token === "(") {
      outer.push(size);
      size = 0;
    } else if (token === ")") {
      last = size + 1;
      size = (outer.pop() ?? 0) + last;
    } else {
      size += 1;
      if (!"*+?".includes(token)) last = 1;
    }
  }
  const long = pattern.match(ANY_CASE.test(pattern) ? LONG_IN_ANY_CASE : LONG) ?? [];
  // Quoted text may look like a group that stays open.
  for (const before of outer) size += before;
  return size + pattern.length - plain.length + long.length * LONG_SIZE;
}

function isCheckpoint(rule: { keyword: string }): boolean {
  return rule.keyword === CHECKPOINT_KEYWORD;
}

function limitFormat(format: Format, isChecked: () => boolean): Format {
  const isForNumbers = (format as { type?: string }).type === "number";
  if (isForNumbers) return format;
  const check = toCheck(format);
  return (text: string) => !isChecked() || text.length > MAX_FORMAT_CHARACTERS || check(text);
}

/** A format is a pattern, a function, an object with a function, or `true` for any text. */
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

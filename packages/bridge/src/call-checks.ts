import { abandonOnAbort, CemError, isObject } from "@cem/core";
import type { FailedTool, InvokeContext, JsonObject, JsonSchema, JsonValue, ToolCall } from "@cem/core";
import { replaceLongNumbers } from "./long-numbers.ts";
import type { Middleware } from "./middleware.ts";
import { createSchemaValidator, type SchemaCheck, type SchemaValidator } from "./schema-validation.ts";
import { notOnHost, type CheckedCall, type ToolSource } from "./tool-source.ts";
import { asSentence, onceForEachTool, type OnUnvalidated, type Violation } from "./violation.ts";

const INEXACT =
  "has more digits than a number holds: its last may be wrong. Give it as a BigInt, in code 123n and of a text BigInt(text). Number(text) and BigInt(number) lose digits, and an answer that is a number has lost them already";

/** Settings of {@link createResultCheck}. */
export interface ResultCheckSettings {
  /**
   * Validates arguments or results. Share one between bridges to compile each schema only once.
   *
   * @defaultValue a new validator
   */
  validator?: SchemaValidator | undefined;
  /** Receives each tool whose arguments or results can't be checked, once for each of the two, with the reason. */
  onUnvalidated?: OnUnvalidated | undefined;
}

/** Settings of {@link checkCalls}. */
export interface CallCheckSettings extends ResultCheckSettings {
  /**
   * Decides whether a tool may be called: `true`, or `false` or the reason why not.
   *
   * @defaultValue every tool may be called
   */
  isAllowed?:
    | ((call: CheckedCall, context: InvokeContext) => boolean | string | Promise<boolean | string>)
    | undefined;
  /**
   * Finds a tool's names in code, which `isAllowed` and guards accept too.
   *
   * @defaultValue the names in the call
   */
  nameInCode?: ((call: ToolCall) => Promise<FailedTool | undefined>) | undefined;
}

/**
 * Creates a middleware that passes on only calls of tools that exist and are allowed, with valid arguments. Others fail
 * with `TOOL_NOT_FOUND` (or what `source.find` throws), `TOOL_NOT_ALLOWED` or `ARGUMENTS_INVALID`. It fills in defaults of
 * missing required arguments, and attaches the tool, so that the source need not look it up again.
 *
 * @param source - Where tools are looked up.
 */
export function checkCalls(source: Pick<ToolSource, "find">, settings: CallCheckSettings = {}): Middleware {
  const { isAllowed = () => true, nameInCode, validator = createSchemaValidator() } = settings;
  const reportUnvalidated = onceForEachTool("arguments", settings.onUnvalidated);

  const assertAllowed = (call: ToolCall, answer: boolean | string): void => {
    if (answer === true) return;
    const { server, tool } = call;
    const reason = answer === false ? "it is not among the tools of this run" : answer;
    throw new CemError("TOOL_NOT_ALLOWED", `${server}.${tool} may not be called: ${reason}.`, {
      details: { server, tool },
    });
  };

  const assertValid = (call: ToolCall, check: SchemaCheck, args: JsonObject): void => {
    if (!check.validated) return reportUnvalidated(call, check.reason);
    if (check.unvalidated !== undefined) reportUnvalidated(call, check.unvalidated);
    const violation = check.check(args);
    if (violation !== undefined) throw invalidArguments(call, violation);
  };

  return (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      const { signal } = context;
      const finding = source.find(call, signal);
      const found = finding instanceof Promise ? await abandonOnAbort(finding, signal) : finding;
      if (found === undefined) throw notOnHost(call);
      const inCode = await nameInCode?.(call);
      const named = { server: call.server, tool: call.tool, args: call.args, found, inCode };
      const answer = isAllowed(named, context);
      assertAllowed(call, typeof answer === "object" ? await answer : answer);
      const given = toObject(call);
      const schema = found.inputSchema;
      const args = schema === undefined ? given : withDefaults(given, schema);
      let numbers = args;
      if (found.unvalidated !== undefined) reportUnvalidated(call, found.unvalidated);
      else if (schema !== undefined) {
        const check = validator.prepare(schema);
        if (found.keepsDigits === true) numbers = replaceLongNumbers(args, schema, asNumber(call));
        assertValid(call, check instanceof Promise ? await check : check, numbers);
      }
      const checked: CheckedCall = { ...named, args, asNumbers: numbers === args ? undefined : numbers };
      return await next.invoke(checked, context);
    },
  });
}

export function invalidArguments({ server, tool }: FailedTool, { path, message }: Violation): CemError {
  return new CemError(
    "ARGUMENTS_INVALID",
    `The arguments of ${server}.${tool} are not valid: ${asSentence(message)}`,
    { details: { server, tool, argument: path } },
  );
}

/** Accepts a text of digits for a number, since the source sends all digits. Refuses numbers that lost digits. */
function asNumber(call: ToolCall) {
  return (found: string | number, path: string, near: number): number => {
    if (typeof found === "string") return near;
    throw invalidArguments(call, { path, message: `\`${path}\` ${INEXACT}` });
  };
}

/** Code that calls a tool without arguments sends none. */
function toObject({ server, tool, args }: ToolCall): JsonObject {
  const value = args as JsonValue | undefined;
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw new CemError(
    "ARGUMENTS_INVALID",
    `The arguments of ${server}.${tool} must be one object, such as { name: value }.`,
    { details: { server, tool, argument: "" } },
  );
}

/** Deeper objects are left unchanged. */
const MAX_DEPTH = 8;

/** Fills in defaults of required arguments, which the generated types declare as optional, into a copy if there are any. */
function withDefaults(args: JsonObject, schema: JsonSchema, depth = 0): JsonObject {
  const { properties, required } = schema;
  if (depth === MAX_DEPTH || !isObject(properties)) return args;
  const filled: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const given = Object.hasOwn(args, name) ? args[name] : undefined;
    if (given === undefined) {
      const isRequired = Array.isArray(required) && required.includes(name);
      const { default: value } = property;
      if (isRequired && value !== undefined) filled[name] = structuredClone<unknown>(value) as JsonValue;
    } else if (isObject(given)) {
      const inner = withDefaults(given, property, depth + 1);
      if (inner !== given) filled[name] = inner;
    }
  }
  return Object.keys(filled).length === 0 ? args : { ...args, ...filled };
}

/**
 * Checks a result against the tool's own output schema, in bounded time. A schema that can't be compiled, and a result
 * that takes too long, go unchecked and are reported.
 *
 * @throws CemError `RESULT_INVALID`, which names the place.
 */
export type ResultCheck = (tool: FailedTool, schema: JsonSchema, result: JsonValue) => Promise<void>;

/** Creates a check of results. It compiles each schema once. */
export function createResultCheck(settings: ResultCheckSettings = {}): ResultCheck {
  const { validator = createSchemaValidator() } = settings;
  const reportUnvalidated = onceForEachTool("result", settings.onUnvalidated);
  return async (tool, schema, result) => {
    const prepared = validator.prepare(schema);
    const check = prepared instanceof Promise ? await prepared : prepared;
    if (!check.validated) return reportUnvalidated(tool, check.reason);
    if (check.unvalidated !== undefined) reportUnvalidated(tool, check.unvalidated);
    const violation = check.check(result, "result");
    if (violation?.unchecked) return reportUnvalidated(tool, violation.message);
    if (violation !== undefined) throw resultInvalid(tool, violation);
  };
}

/** Creates a `RESULT_INVALID` error for a result that does not fit the tool's own output schema. */
export function resultInvalid({ server, tool }: FailedTool, { path, message }: Violation): CemError {
  return new CemError(
    "RESULT_INVALID",
    `${server}.${tool} answered, but its result does not fit its own output schema: ${asSentence(message)}`,
    { details: { server, tool, place: path } },
  );
}

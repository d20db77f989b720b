import { abandonOnAbort, CemError } from "@cem/core";
import type { FailedTool, InvokeContext, JsonObject, JsonSchema, JsonValue, ToolCall } from "@cem/core";
import { withDefaults } from "./argument-defaults.ts";
import { createSchemaValidator } from "./schema-validation.ts";
import type { SchemaValidator } from "./schema-validation.ts";
import { asSentence } from "./violation.ts";
import type { Violation } from "./violation.ts";
import type { Middleware } from "./middleware.ts";
import { notOnHost } from "./tool-source.ts";
import type { CheckedCall, ToolSource } from "./tool-source.ts";
import { onceForEachTool } from "./unvalidated.ts";
import type { OnUnvalidated } from "./unvalidated.ts";

/** Settings of {@link checkCalls}. */
export interface CallCheckSettings {
  /**
   * Decides whether a tool may be called: `true`, or `false` or the reason why not.
   *
   * @defaultValue every tool that is found may be called
   */
  isAllowed?:
    | ((call: ToolCall, context: InvokeContext) => boolean | string | Promise<boolean | string>)
    | undefined;
  /**
   * Validates arguments. Give one to several bridges to compile each schema once.
   *
   * @defaultValue a validator of its own
   */
  validator?: SchemaValidator | undefined;
  /** Receives each tool whose arguments can't be checked, once, with the reason. */
  onUnvalidated?: OnUnvalidated | undefined;
}

/**
 * Creates a middleware that passes on only calls of tools that exist and are allowed, with valid arguments. Others fail
 * with `TOOL_NOT_FOUND` (or what `source.find` throws), `TOOL_NOT_ALLOWED` or `ARGUMENTS_INVALID`. What it passes on
 * has the defaults of required arguments that were left out, and carries the tool that was found, so that the source need not look it up again.
 *
 * @param source - Where tools are looked up.
 */
export function checkCalls(source: Pick<ToolSource, "find">, settings: CallCheckSettings = {}): Middleware {
  const { isAllowed = () => true, validator = createSchemaValidator() } = settings;
  const reportUnvalidated = onceForEachTool("arguments", settings.onUnvalidated);

  const assertAllowed = (call: ToolCall, answer: boolean | string): void => {
    if (answer === true) return;
    const { server, tool } = call;
    const reason = answer === false ? "it is not among the tools of this run" : answer;
    throw new CemError("TOOL_NOT_ALLOWED", `${server}.${tool} may not be called: ${reason}.`, {
      details: { server, tool },
    });
  };

  const assertValid = async (call: ToolCall, schema: JsonSchema, args: JsonObject): Promise<void> => {
    const check = await validator.prepare(schema);
    if (!check.validated) return reportUnvalidated(call, check.reason);
    const violation = check.check(args);
    if (violation !== undefined) throw invalidArguments(call, violation);
  };

  return (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      const { signal } = context;
      const found = await abandonOnAbort(Promise.resolve(source.find(call, signal)), signal);
      if (found === undefined) throw notOnHost(call);
      const answer = isAllowed(call, context);
      assertAllowed(call, typeof answer === "object" ? await answer : answer);
      const given = toObject(call);
      const schema = found.inputSchema;
      const args = schema === undefined ? given : withDefaults(given, schema);
      if (found.unvalidated !== undefined) reportUnvalidated(call, found.unvalidated);
      else if (schema !== undefined) await assertValid(call, schema, args);
      const checked: CheckedCall = { server: call.server, tool: call.tool, args, found };
      return next.invoke(checked, context);
    },
  });
}

/** Creates an `ARGUMENTS_INVALID` error that names the argument. */
export function invalidArguments({ server, tool }: FailedTool, { path, message }: Violation): CemError {
  return new CemError(
    "ARGUMENTS_INVALID",
    `The arguments of ${server}.${tool} are not valid: ${asSentence(message)}`,
    {
      details: { server, tool, argument: path },
    },
  );
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

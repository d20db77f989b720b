import { CemError } from "@cem/core";
import type { JsonObject, JsonSchema, JsonValue, ToolCall } from "@cem/core";
import { abandonOnAbort } from "./abort.ts";
import { createArgumentValidator } from "./argument-validation.ts";
import type { ArgumentValidator } from "./argument-validation.ts";
import type { Middleware } from "./middleware.ts";
import { unknownCall } from "./tool-source.ts";
import type { CheckedCall, ToolSource } from "./tool-source.ts";

export interface CallCheckSettings {
  /** Whether this run may call a tool; a string says why not. Default: every known tool. */
  isAllowed?: ((call: ToolCall) => boolean | string) | undefined;
  /** Shares compiled schemas between bridges. */
  validator?: ArgumentValidator | undefined;
  /** Told once for each tool whose arguments go unchecked. */
  onUnvalidated?: ((tool: { server: string; tool: string; reason: string }) => void) | undefined;
}

/** Lets through calls of tools that are known and allowed, with arguments that their schemas allow. */
export function checkCalls(side: Pick<ToolSource, "find">, settings: CallCheckSettings = {}): Middleware {
  const validator = settings.validator ?? createArgumentValidator();
  const reported = new Set<string>();

  const reportUnvalidated = (server: string, tool: string, reason: string): void => {
    const key = JSON.stringify([server, tool]);
    if (reported.has(key)) return;
    reported.add(key);
    settings.onUnvalidated?.({ server, tool, reason });
  };

  const assertAllowed = (call: ToolCall): void => {
    const answer = settings.isAllowed?.(call) ?? true;
    if (answer === true) return;
    const why = answer === false ? "it is not among the tools of this run" : answer;
    throw new CemError("TOOL_NOT_ALLOWED", `${call.server}.${call.tool} may not be called: ${why}.`, {
      details: { server: call.server, tool: call.tool },
    });
  };

  const assertValid = async (
    { server, tool }: ToolCall,
    schema: JsonSchema,
    args: JsonObject,
  ): Promise<void> => {
    const check = await validator.prepare(schema);
    if (!check.validated) return reportUnvalidated(server, tool, check.reason);
    const violation = check.check(args);
    if (violation !== undefined)
      throw invalidArguments({ server, tool }, violation.argument, violation.message);
  };

  return (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      const { server, tool } = call;
      const known = await abandonOnAbort(Promise.resolve(side.find(call, context.signal)), context.signal);
      if (known === undefined) throw unknownCall(call);
      assertAllowed(call);
      const args = toObject(call);
      if (known.unvalidated !== undefined) reportUnvalidated(server, tool, known.unvalidated);
      else if (known.inputSchema !== undefined) await assertValid(call, known.inputSchema, args);
      const checked: CheckedCall = { server, tool, args, found: known };
      return next.invoke(checked, context);
    },
  });
}

/** An `ARGUMENTS_INVALID` that names the argument. `what` begins with it: "`city` is missing". */
export function invalidArguments(
  { server, tool }: { server: string; tool: string },
  argument: string,
  what: string,
): CemError {
  return new CemError("ARGUMENTS_INVALID", `The arguments of ${server}.${tool} are not valid: ${what}.`, {
    details: { server, tool, argument },
  });
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

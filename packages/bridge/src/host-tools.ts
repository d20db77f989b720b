import { inspect } from "node:util";
import { abandonOnAbort, CemError, nobodyAsked, toolNotFound, withoutPrototypeKeys } from "@cem/core";
import type {
  Elicit,
  ElicitAnswer,
  ErrorDetails,
  FailedTool,
  InvokeContext,
  ToolCall,
  ToolResult,
} from "@cem/core";
import { invalidArguments, resultInvalid } from "./call-checks.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import type { HostTool, HostToolContext } from "./define-tool.ts";
import { toJsonResult } from "./host-values.ts";
import type { ResultKeeping } from "./result-handles.ts";
import { createSchemaValidator } from "./schema-validation.ts";
import { hideInside, type HideSecrets } from "./secrets.ts";
import { checkValue, describeHostTool, isStandardSchema, NO_INPUT } from "./tool-schema.ts";
import type { HostToolDescription } from "./tool-schema.ts";
import type { KnownTool, ToolSource } from "./tool-source.ts";

const DEFAULT_TOOL_TIMEOUT_MS = 60_000;

/** Settings of {@link createHostTools}. */
export interface HostToolsSettings extends ResultKeeping {
  /** The tools by server and name, made with `defineTool`. */
  tools: Readonly<Record<string, Readonly<Record<string, HostTool>>>>;
  /**
   * Asks the user a tool's question, for calls whose context has no `elicit`.
   *
   * @defaultValue questions are answered with `cancel` and the reason that nobody could be asked
   */
  elicit?: Elicit | undefined;
  /**
   * Removes secrets from the errors of tools. See `createSecretFilter`.
   *
   * @defaultValue errors are passed on unchanged
   */
  hideSecrets?: HideSecrets | undefined;
}

/** Functions of the host as a source of tools. */
export interface HostTools extends ToolSource {
  /** The tools as a catalog lists them. */
  readonly descriptions: readonly HostToolDescription[];
}

/**
 * Makes functions of the host available as tools. Calls fail with `TOOL_NOT_FOUND`, `ARGUMENTS_INVALID`, `TOOL_FAILED`,
 * `TOOL_TIMEOUT`, `RESULT_INVALID`, `RESULT_NOT_JSON` or `RESULT_TOO_LARGE`. Put `checkCalls` in front: it checks
 * arguments against JSON Schemas, which this does not.
 *
 * @throws CemError `TOOL_INVALID` for a tool without `execute`, or whose input is not an object.
 */
export function createHostTools(settings: HostToolsSettings): HostTools {
  const { hideSecrets = (text) => text } = settings;
  const validator = createSchemaValidator();
  const servers = new Map(
    Object.entries(settings.tools).map(([server, tools]) => [server, new Map(Object.entries(tools))]),
  );

  const lookUp = ({ server, tool }: ToolCall): HostTool => {
    const tools = servers.get(server) ?? new Map<string, HostTool>();
    const found = tools.get(tool);
    if (found !== undefined) return found;
    throw toolNotFound({ server, tool }, [...tools.keys()]);
  };

  const checkInput = async (call: ToolCall, { input }: HostTool): Promise<unknown> => {
    const args = withoutPrototypeKeys(call.args);
    if (input === undefined || !isStandardSchema(input)) return args;
    const checked = await checkValue(input, args, "arguments", validator);
    if (checked.ok) return checked.value;
    throw invalidArguments(call, checked.violation);
  };

  const checkOutput = async (call: ToolCall, { output }: HostTool, value: unknown): Promise<unknown> => {
    if (output === undefined) return value;
    const checked = await checkValue(output, value, "result", validator);
    if (checked.ok) return checked.value;
    throw resultInvalid(call, checked.violation);
  };

  const execute = async (
    call: ToolCall,
    tool: HostTool,
    deadline: Deadline,
    { elicit = settings.elicit, onWaiting }: InvokeContext,
  ): Promise<ToolResult> => {
    const input = await checkInput(call, tool);
    const context = createToolContext(call.server, deadline, { onWaiting, elicit });
    const answer = await tool.execute(input, context);
    // The time of the tool is over: checking and storing a large answer must not make it look like one that hangs.
    deadline.pause();
    const output = await checkOutput(call, tool, answer);
    const isTyped = tool.output !== undefined || tool.outputJsonSchema !== undefined;
    const named = { server: call.server, name: call.tool, isTyped };
    return { ok: true, value: await toJsonResult(named, output, settings) };
  };

  return {
    specificationVersion: "v1",
    descriptions: [...servers].flatMap(([server, tools]) =>
      [...tools].map(([name, tool]) => describeHostTool(server, name, tool)),
    ),
    find: (call) => (servers.has(call.server) ? knownTool(call.tool, lookUp(call)) : undefined),
    async invoke(call, context) {
      const tool = lookUp(call);
      const { timeoutMs = DEFAULT_TOOL_TIMEOUT_MS } = tool;
      const deadline = createDeadline(timeoutMs, timeoutMs, context.signal);
      try {
        return await abandonOnAbort(execute(call, tool, deadline, context), deadline.signal);
      } catch (error) {
        throw deadline.expired ? toolTimedOut(call, timeoutMs) : toolFailed(call, error, hideSecrets);
      } finally {
        deadline.dispose();
      }
    },
  };
}

/** A library's schema checks arguments itself when the tool is called, since only it knows its refinements. */
function knownTool(name: string, { input = NO_INPUT, annotations, output }: HostTool): KnownTool {
  const outputSchema = output === undefined || isStandardSchema(output) ? undefined : output;
  const known = { name, annotations, outputSchema };
  return isStandardSchema(input) ? known : { ...known, inputSchema: input };
}

/** The timeouts of the call and of the run are paused while a person is asked. */
function createToolContext(
  server: string,
  deadline: Deadline,
  { onWaiting, elicit }: Pick<InvokeContext, "onWaiting" | "elicit">,
): HostToolContext {
  const { signal } = deadline;
  return {
    signal,
    async elicit(question): Promise<ElicitAnswer> {
      if (elicit === undefined) return nobodyAsked("no user is connected to this run");
      deadline.pause();
      onWaiting?.(true);
      try {
        const request = question.mode === "url" ? question : { ...question, mode: "form" as const };
        return await abandonOnAbort(elicit({ ...request, server, signal }), signal);
      } catch (error) {
        signal.throwIfAborted();
        process.emitWarning(`A question of ${server} was not answered: ${String(error)}`, "CemWarning");
        return { action: "cancel" };
      } finally {
        onWaiting?.(false);
        deadline.resume();
      }
    },
  };
}

function toolTimedOut({ server, tool }: FailedTool, timeoutMs: number): CemError {
  const message = `${server}.${tool} did not answer within ${timeoutMs / 1000} s.`;
  return new CemError("TOOL_TIMEOUT", message, { details: { server, tool, timeoutMs } });
}

/** Converts an exception for the sandbox, without stack and secrets. A `CemError` keeps its code. */
function toolFailed({ server, tool }: FailedTool, thrown: unknown, hideSecrets: HideSecrets): CemError {
  if (CemError.isInstance(thrown)) {
    const details = detailsWithoutSecrets(thrown.details, hideSecrets);
    return new CemError(thrown.code, hideSecrets(thrown.message), { details, cause: thrown });
  }
  const text = textOfThrown(thrown);
  const message = text === "" ? `${server}.${tool} failed without a message.` : hideSecrets(text);
  return new CemError("TOOL_FAILED", message, { details: { server, tool }, cause: thrown });
}

function textOfThrown(thrown: unknown): string {
  const { message } = Object(thrown) as { message?: unknown };
  if (typeof message === "string") return message;
  return typeof thrown === "string" ? thrown : inspect(thrown, { breakLength: Infinity });
}

function detailsWithoutSecrets(details: ErrorDetails, hideSecrets: HideSecrets): ErrorDetails {
  try {
    return hideInside(details, hideSecrets);
  } catch {
    // Not representable as JSON; only the message is passed on.
    return {};
  }
}

import { CemError } from "@cem/core";
import type {
  Elicit,
  ElicitAnswer,
  ErrorDetails,
  InvokeContext,
  JsonSchema,
  ToolAnnotations,
  ToolCall,
  ToolResult,
} from "@cem/core";
import { nearest } from "@cem/text";
import { abandonOnAbort } from "./abort.ts";
import { createArgumentValidator } from "./argument-validation.ts";
import { invalidArguments } from "./call-checks.ts";
import { createDeadline } from "./deadline.ts";
import type { Deadline } from "./deadline.ts";
import type { HostTool, HostToolContext } from "./define-tool.ts";
import { toJsonResult, withoutPrototypeKeys } from "./host-values.ts";
import { fitValue } from "./result-handles.ts";
import type { ResultKeeping } from "./result-handles.ts";
import { hideInside } from "./secrets.ts";
import type { HideSecrets } from "./secrets.ts";
import { assertObjectInput, checkValue, isStandardSchema, toJsonSchema } from "./tool-schema.ts";
import type { KnownTool, ToolSource } from "./tool-source.ts";

const DEFAULT_TOOL_TIMEOUT_MS = 60_000;
const NO_INPUT: JsonSchema = { type: "object", properties: {}, additionalProperties: false };

export interface HostToolsSettings extends ResultKeeping {
  /** By server and name. */
  tools: Readonly<Record<string, Readonly<Record<string, HostTool>>>>;
  /** Asks the user what a tool wants to know, where a run has no user of its own. Absent: such questions are declined. */
  elicit?: Elicit | undefined;
  /** Takes secrets out of the messages of what tools throw. Default: messages go as they are. */
  hideSecrets?: HideSecrets | undefined;
}

/** A host tool as a catalog shows it. */
export interface HostToolDescription {
  server: string;
  name: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema | undefined;
  annotations?: ToolAnnotations | undefined;
}

export interface HostTools extends ToolSource {
  readonly descriptions: readonly HostToolDescription[];
}

/**
 * Functions of the host as tools behind a bridge.
 *
 * @throws CemError `TOOL_INVALID` for a tool whose input is not an object.
 */
export function createHostTools(settings: HostToolsSettings): HostTools {
  const { tools, elicit, hideSecrets = (text) => text } = settings;
  const validator = createArgumentValidator();
  const servers = new Map(
    Object.entries(tools).map(([server, own]) => [server, new Map(Object.entries(own))] as const),
  );

  const find = ({ server, tool }: ToolCall): KnownTool | undefined => {
    const own = servers.get(server);
    if (own === undefined) return undefined;
    const found = own.get(tool);
    if (found === undefined) throw unknownTool(server, tool, [...own.keys()]);
    const { input } = found;
    // A schema of a library checks its input itself: only it knows its refinements, and what it accepts.
    if (input !== undefined && isStandardSchema(input)) return { name: tool };
    return { name: tool, inputSchema: input ?? NO_INPUT };
  };

  const answer = async (
    call: ToolCall,
    tool: HostTool,
    deadline: Deadline,
    context: InvokeContext,
  ): Promise<ToolResult> => {
    const { server } = call;
    const input = await checkInput(call, tool);
    const returned = await tool.execute(input, contextFor(server, deadline, { elicit, ...context }));
    const named = { server, name: call.tool };
    const value = await toJsonResult(named, await checkOutput(call, tool, returned), settings);
    return { ok: true, value: await fitValue(named, value, settings) };
  };

  const checkInput = async (call: ToolCall, { input }: HostTool): Promise<unknown> => {
    const args = withoutPrototypeKeys(call.args);
    if (input === undefined || !isStandardSchema(input)) return args;
    const checked = await checkValue(input, args, validator);
    if (checked.ok) return checked.value;
    throw invalidArguments(call, checked.violation.argument, checked.violation.message);
  };

  const checkOutput = async (
    { server, tool }: ToolCall,
    { output }: HostTool,
    value: unknown,
  ): Promise<unknown> => {
    if (output === undefined) return value;
    const checked = await checkValue(output, value, validator);
    if (checked.ok) return checked.value;
    throw new CemError(
      "RESULT_INVALID",
      `${server}.${tool} returned what its own output schema does not allow: ${checked.violation.message}.`,
      { details: { server, tool, place: checked.violation.argument } },
    );
  };

  return {
    specificationVersion: "v1",
    descriptions: [...servers].flatMap(([server, own]) =>
      [...own].map(([name, tool]) => describe(server, name, tool)),
    ),
    find,
    async invoke(call, context) {
      const tool = servers.get(call.server)?.get(call.tool);
      if (tool === undefined) throw unknownTool(call.server, call.tool, []);
      const timeoutMs = tool.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS;
      const deadline = createDeadline(timeoutMs, timeoutMs, context.signal);
      try {
        return await abandonOnAbort(answer(call, tool, deadline, context), deadline.signal);
      } catch (error) {
        throw deadline.expired ? timedOut(call, timeoutMs) : toFailure(call, error, hideSecrets);
      } finally {
        deadline.dispose();
      }
    },
  };
}

/** What a tool may use; both clocks stand still while a person is asked. */
function contextFor(
  server: string,
  deadline: Deadline,
  { onWaiting, elicit }: Pick<InvokeContext, "onWaiting"> & { elicit: Elicit | undefined },
): HostToolContext {
  const { signal } = deadline;
  return {
    signal,
    async elicit(question): Promise<ElicitAnswer> {
      if (elicit === undefined) return { action: "decline" };
      deadline.pause();
      onWaiting?.(true);
      try {
        const asked = question.mode === "url" ? question : { ...question, mode: "form" as const };
        return await abandonOnAbort(elicit({ server, signal, ...asked }), signal);
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

function describe(server: string, name: string, tool: HostTool): HostToolDescription {
  const { description, input, output, annotations, inputJsonSchema, outputJsonSchema } = tool;
  const inputSchema =
    inputJsonSchema ??
    (input === undefined ? NO_INPUT : (toJsonSchema(input, "input") ?? { type: "object" }));
  assertObjectInput(`${server}.${name}`, inputSchema);
  const outputSchema = outputJsonSchema ?? toJsonSchema(output, "output");
  return {
    server,
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function unknownTool(server: string, tool: string, known: readonly string[]): CemError {
  const [near] = nearest(tool, known);
  const hint = near === undefined ? `There are: ${known.join(", ") || "none"}.` : `Did you mean "${near}"?`;
  return new CemError("TOOL_NOT_FOUND", `Server "${server}" has no tool "${tool}". ${hint}`, {
    details: { server, tool },
  });
}

function timedOut({ server, tool }: ToolCall, timeoutMs: number): CemError {
  const message = `${server}.${tool} did not answer within ${timeoutMs / 1000} s.`;
  return new CemError("TOOL_TIMEOUT", message, { details: { server, tool, timeoutMs } });
}

/** What a tool threw, in its own words: without its stack, and without secrets. */
function toFailure({ server, tool }: ToolCall, thrown: unknown, hideSecrets: HideSecrets): CemError {
  if (CemError.isInstance(thrown)) {
    const { code, message, details } = thrown;
    return new CemError(code, hideSecrets(message), {
      details: plainDetails(details, hideSecrets),
      cause: thrown,
    });
  }
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const message = said === "" ? `${server}.${tool} failed and did not say why.` : hideSecrets(said);
  return new CemError("TOOL_FAILED", message, { details: { server, tool }, cause: thrown });
}

function plainDetails(details: ErrorDetails, hideSecrets: HideSecrets): ErrorDetails {
  try {
    return hideInside(details, hideSecrets);
  } catch {
    // They are for programs; the message says it too.
    return {};
  }
}

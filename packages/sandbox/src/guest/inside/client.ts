import type { JsonEncoder } from "./json.ts";
import type { Pending } from "./pending.ts";
import type { Primordials } from "./primordials.ts";

export interface CallState {
  callsInFlight: number;
  /** Limit of one message to the host, in characters of JSON. */
  payloadBytes: number;
  /** The id of the next call. Unique in a guest, so that a late result is never taken for the result of another call. */
  nextId: number;
}

export type CallResult =
  | { id: number; ok: true; handles?: true; value: unknown }
  | { id: number; ok: false; error: ToolFailure };

interface ToolFailure {
  code: string;
  message: string;
  details?: unknown;
}

export interface ClientSettings {
  send(json: string): void;
  state: CallState;
  pending: Pending;
  /** Adds the methods to handles in a result. */
  reviveHandles(value: unknown): unknown;
}

/** Creates the calls of one run to tools on the host. */
export function createClient(
  primordials: Primordials,
  json: JsonEncoder,
  { send, state, pending, reviveHandles }: ClientSettings,
) {
  const { PromiseConstructor, constructors, create, defineValue, includesText } = primordials;
  const { isInstance, quote, startsWith, toText } = primordials;
  /** The host has the same limit. */
  const MAX_NAME_CHARACTERS = 256;
  // Resources and prompts of servers are requested from the host as calls with these reserved names.
  const RESERVED = "mcp:";
  // No server can have this name.
  const SKILLS = "cem:skills";

  let inFlight = 0;
  /** JSON of queued calls, between `queueFirst` and `queueEnd`. */
  const queue = create(null) as Record<number, string>;
  let queueFirst = 0;
  let queueEnd = 0;
  const waiting = create(null) as Record<number, (result: CallResult) => void>;

  /** Error of a tool on the host. Its message names the tool: `weather.get_weather: …`. */
  class ToolError extends Error {
    override readonly name = "ToolError";
    /** Stable error code: `TOOL_NOT_FOUND`. */
    readonly code: string;
    readonly server: string;
    readonly tool: string;
    readonly details: unknown;

    constructor({ code, message, details }: ToolFailure, server: string, tool: string) {
      const name = startsWith(tool, RESERVED) ? server : `${server}.${tool}`;
      super(includesText(message, name) ? message : `${name}: ${message}`);
      this.code = code;
      this.server = server;
      this.tool = tool;
      this.details = details;
    }

    /** JSON has no message of an error otherwise, which is the one part that says why. */
    toJSON(): object {
      return { message: this.message, ...(this as object) };
    }
  }

  /** @throws ToolError when the tool fails or doesn't exist; TypeError when the arguments aren't JSON. */
  async function callTool(server: string, tool: string, args: unknown = {}): Promise<unknown> {
    if (typeof tool !== "string")
      throw new constructors.TypeError(
        'callTool takes a server, a tool and arguments: callTool("shop", "find", { id: 1 }).',
      );
    const serverName = toText(server);
    if (serverName.length > MAX_NAME_CHARACTERS || tool.length > MAX_NAME_CHARACTERS)
      throw new constructors.TypeError("No server or tool has so long a name.");
    let text: string;
    try {
      text = json.encode(args, "The tool's argument", state.payloadBytes) ?? "null";
    } catch (error) {
      if (json.isTooLarge(error)) return endByLimit("argument");
      client.onHostCall(serverName, false);
      throw error;
    }
    const id = state.nextId;
    state.nextId += 1;
    const frame = `{"type":"call","id":${id},"server":${quote(serverName)},"tool":${quote(tool)},"args":${text}}`;
    const work = pending.begin("call", tool, serverName);
    let result: CallResult;
    try {
      const answered = new PromiseConstructor<CallResult>((settled) => {
        if (inFlight < state.callsInFlight) dispatch(frame);
        else {
          queue[queueEnd] = frame;
          queueEnd += 1;
        }
        waiting[id] = (answer) => {
          work.end();
          settled(answer);
        };
      });
      if (waiting[id] !== undefined) client.onHostCall(serverName, true);
      result = await answered;
    } catch (error) {
      // The stack was full, so that nothing was sent.
      work.end();
      throw error;
    }
    if (result.ok) return result.handles === true ? reviveHandles(result.value) : result.value;
    // Created here, where its stack contains the program's line.
    const error = new ToolError(result.error, serverName, tool);
    work.place(error);
    throw error;
  }

  function dispatch(frame: string): void {
    send(frame);
    inFlight += 1;
  }

  async function member(server: string, request: string, args: object, name: string): Promise<unknown> {
    const answer = (await callTool(server, request, args)) as Record<string, unknown>;
    return answer[name] ?? answer;
  }

  /** Tells the host that a limit was reached, which ends the run; the promise never settles. */
  function endByLimit(of: "argument" | "value"): Promise<never> {
    send(`{"type":"limit","of":"${of}"}`);
    return new PromiseConstructor(() => {});
  }

  const client = {
    /** Exports of the module `cem:client`. */
    exports: {
      __proto__: null,
      callTool,
      ToolError,
      listResources: (server: string) => member(server, "mcp:resources/list", {}, "resources"),
      listResourceTemplates: (server: string) =>
        member(server, "mcp:resources/templates/list", {}, "resourceTemplates"),
      readResource: (server: string, uri: string) =>
        member(server, "mcp:resources/read", { uri: toText(uri) }, "contents"),
      listPrompts: (server: string) => member(server, "mcp:prompts/list", {}, "prompts"),
      getPrompt: (server: string, name: string, args: object = {}) =>
        callTool(server, "mcp:prompts/get", { name: toText(name), arguments: args }),
      saveSkill: (draft: object) => callTool(SKILLS, "propose", draft),
    } as Record<string, unknown>,
    /** A function that calls a tool on the host, for tools whose files need not be loaded. */
    hostTool(server: string, tool: string, name = tool): object {
      const call = async (input: unknown = {}): Promise<unknown> => {
        try {
          return await callTool(server, tool, input);
        } catch (error) {
          throw client.toolError(error, server, name);
        }
      };
      defineValue(call, "name", name, false);
      return call;
    },
    /** Settles a call and sends the next queued one. */
    settle(result: CallResult): void {
      const settled = waiting[result.id];
      if (settled === undefined) return;
      delete waiting[result.id];
      inFlight -= 1;
      if (queueFirst < queueEnd) {
        const frame = queue[queueFirst] as string;
        delete queue[queueFirst];
        queueFirst += 1;
        dispatch(frame);
      }
      // Else the promise would look it up, also in a prototype that the program has changed, with the guest on the stack.
      defineValue(result, "then", undefined, false);
      settled(result);
    },
    endByLimit,
    /** Called for each call to the host, which is sent unless its arguments are refused. */
    onHostCall: (_server: string, _isSent: boolean): void => {},
    /** Converts the error of a tool that runs in the guest to the error that a tool on the host would cause. */
    toolError(thrown: unknown, server: string, tool: string): unknown {
      if (isInstance(ToolError, thrown) || json.isTooLarge(thrown)) return thrown;
      const isError = isInstance(constructors.Error, thrown);
      const isObject = typeof thrown === "object" && thrown !== null;
      const message = isError
        ? toText((thrown as Error).message)
        : isObject
          ? "it threw an object that is no error."
          : toText(thrown);
      const failure = new ToolError({ code: "TOOL_FAILED", message, details: {} }, server, tool);
      defineValue(failure, "cause", thrown, false);
      // The frames of the tool, which lead to the program as well.
      if (isError) pending.addPlace(failure, (thrown as Error).stack);
      return failure;
    },
    hasCalls: (): boolean => inFlight > 0,
  };
  return client;
}

export type Client = ReturnType<typeof createClient>;

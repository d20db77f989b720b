import type { HintFor } from "@cem/tool-files/answers";
import { CemError, isObject, MS_PER_SECOND } from "@cem/core";
import type {
  Agent,
  JsonSchema,
  JsonValue,
  Mount,
  NetworkPolicy,
  Redactor,
  ResultStore,
  SkillStore,
  StateStore,
  ExecuteOptions,
  JsonObject,
  TaskResult,
} from "@cem/core";
import { fromJsonSchema } from "@modelcontextprotocol/server";
import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { currentExchange, SHARED_CLIENT_ID } from "../exchange.ts";
import { MAX_ARGUMENT_CHARACTERS } from "../limits.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { RunRequest } from "../runs/run.ts";

/** Sets of tools. `full`: all. `code`: the three for a model that writes code. `original`: the seven of AgentKernel. */
export const PROFILES = ["full", "code", "original"] as const;
export type Profile = (typeof PROFILES)[number];

/** The agent and the stores behind the server's tools: those of the server, or of the owner of a request. */
export interface ServedParts {
  agent: Agent;
  /** The store for `get_state` and `save_state`. Absent: they answer that state is disabled. */
  state?: StateStore | undefined;
  /** The store for values too large to return, which `read_result` reads. Absent: such values are truncated. */
  results?: ResultStore | undefined;
  /** The skills for `list_skills`, `get_skill` and `save_skill`. Absent: there are no such tools. */
  skills?: SkillStore | undefined;
  /** Redacts personal data and secrets in answers. The agent should have the same redactor. Absent: nothing is redacted. */
  redactor?: Redactor | undefined;
  /** Runs the workflows that are exposed as tools. Absent: there are no such tools. */
  runWorkflow?: RunWorkflowTool | undefined;
}

/** Runs a workflow that is exposed as a tool, with the parts of the request's owner. */
export type RunWorkflowTool = (
  name: string,
  variables: JsonObject,
  options: ExecuteOptions,
) => Promise<TaskResult>;

export interface ToolHost extends ServedParts {
  runs: RunRegistry;
  /** Resources that code can reach, as descriptions and answers state them. */
  guest: GuestFacts;
  /** The quota key of runs. Absent: the client's. */
  quotaOwner?: string | undefined;
  hintFor?: HintFor | undefined;
  /** Whether the client of the call can ask its user. Absent: unknown. */
  canAsk?: boolean | undefined;
}

/** The key of the words that are shown if an answer can't be redacted. They have no text of a tool, a program or a client. */
export const SAFE_WORDS = Symbol("safe words");

/** The answer to a call of a tool: a result, or questions for the client. */
export type ToolAnswer = (CallToolResult | InputRequiredResult) & { [SAFE_WORDS]?: string };

/** A tool as the protocol lists and calls it. */
export interface ServerTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: StandardSchemaWithJSON;
  outputSchema?: StandardSchemaWithJSON | undefined;
  annotations?: ToolAnnotations | undefined;
  handle: (input: unknown, context: ServerContext, canAsk?: boolean) => Promise<ToolAnswer>;
}

interface ToolDeclaration<Input> {
  name: string;
  title: string;
  description: string | ((host: ToolHost) => string);
  /** JSON Schema. Kept short: every client's model reads it. */
  input: JsonSchema;
  output: JsonSchema;
  annotations: ToolAnnotations;
  profiles: readonly Profile[];
  /** The part that the tool requires. Default: none. */
  needs?: keyof ServedParts | undefined;
  /** Maximum length of each text argument over HTTP. Default: `MAX_ARGUMENT_CHARACTERS`. */
  maxCharacters?: number | undefined;
  handle: (input: Input, host: ToolHost, context: ServerContext) => Promise<ToolAnswer>;
}

export type Caller = Pick<ServerContext, "http" | "sessionId">;

/** Finds the {@link ToolHost} of a request: that of its owner if requests have owners. */
export type HostOf = (context: Caller) => ToolHost | Promise<ToolHost>;

export interface DeclaredTool extends Pick<ToolDeclaration<never>, "profiles" | "needs"> {
  /** @param host - The parts of the server, on which its description depends. */
  bind(host: ToolHost, hostOf: HostOf): ServerTool;
}

/** Declares one of the server's own tools. Its schemas are compiled once per process. */
export function declareTool<Input>(declaration: ToolDeclaration<Input>): DeclaredTool {
  const { input, output, handle, profiles, needs, maxCharacters, ...shown } = declaration;
  const inputSchema = fromJsonSchema<Input>(input);
  const outputSchema = fromJsonSchema(output);
  const bind = (host: ToolHost, hostOf: HostOf): ServerTool => ({
    ...shown,
    description: typeof shown.description === "string" ? shown.description : shown.description(host),
    inputSchema,
    outputSchema,
    // The SDK has validated the input against the schema.
    handle: async (checked, context, canAsk) => {
      // A long text blocks other clients. Over stdio there are none.
      if (context.http !== undefined && isObject(checked))
        for (const [name, value] of Object.entries(checked))
          if (typeof value === "string") requireLength(name, value, maxCharacters ?? MAX_ARGUMENT_CHARACTERS);
      return handle(checked as Input, { ...(await hostOf(context)), canAsk }, context);
    },
  });
  return { profiles, needs, bind };
}

/** @throws CemError `INPUT_TOO_LARGE` */
export function requireLength(what: string, { length }: string, limit: number): void {
  if (length <= limit) return;
  const message = `The ${what} has ${length} characters, and ${limit} are the most here. Nothing was run: put large data into files of the workspace, a part at a time, and read them in code.`;
  throw new CemError("INPUT_TOO_LARGE", message, { details: { characters: length, limit } });
}

/** Answers with a JSON value, as text and as structured content. */
export function answerValue(value: object | JsonValue): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

/** The authenticated client id, or an empty string without authorization. A run belongs to the client that started it. */
export function clientIdOf({ http }: Pick<ServerContext, "http">): string {
  return http?.authInfo?.clientId ?? "";
}

/** The quota key of the runs of a request. Absent over stdio, which has a single client. */
export function runQuotaOwnerOf(
  { quotaOwner }: Pick<ToolHost, "quotaOwner">,
  { http }: Caller,
): string | undefined {
  return http === undefined ? undefined : (quotaOwner ?? currentExchange().quotaOwner);
}

/**
 * The session that a run belongs to: over stdio that of the process, over HTTP that of the client's session, else of the
 * authenticated client. Anonymous requests have none: their guest serves one run, and their values, calls and log are
 * shared by all such runs.
 */
export function sessionOf(context: Caller): { session: string | undefined; singleUse?: boolean } {
  const { http, sessionId } = context;
  if (http === undefined) return { session: "stdio" };
  const owner = clientIdOf(context);
  if (sessionId !== undefined) return { session: JSON.stringify([owner, sessionId]) };
  if (owner !== "") return { session: JSON.stringify([owner]) };
  return { session: undefined, singleUse: true };
}

/** The wording of choices that outlast their run, in guards and in the redactor. */
const LASTING = "for this session";

/** The options of a run in its caller's session. Without one, a question says that all with the shared token are one. */
function inSession(options: ExecuteOptions, context: Caller): ExecuteOptions {
  const { onElicit: ask } = options;
  const all = { ...options, ...sessionOf(context) };
  if (ask === undefined || context.sessionId !== undefined || clientIdOf(context) !== SHARED_CLIENT_ID)
    return all;
  const onElicit: typeof ask = async (request) => {
    const isLasting = request.mode === "form" && JSON.stringify(request.requestedSchema).includes(LASTING);
    const more = isLasting ? " (This session is that of all who use the server's token.)" : "";
    return ask({ ...request, message: `${request.message}${more}` });
  };
  return { ...all, onElicit };
}

export function runRequest(
  host: ToolHost,
  caller: Caller,
  { kind, input, begin }: Pick<RunRequest, "kind" | "begin"> & { input: string },
) {
  const owner = clientIdOf(caller);
  const { quotaOwner: audience = owner, redactor } = host;
  return {
    kind,
    owner,
    quotaOwner: runQuotaOwnerOf(host, caller),
    facts: { input, audience, redactor, session: sessionOf(caller).session },
    begin: (options: ExecuteOptions) => begin(inSession(options, caller)),
  };
}

export const text = { type: "string" } as const;
export const READ_ONLY: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
/** Annotations of tools that run code, which may call any tool. */
export const RUNS_CODE: ToolAnnotations = { destructiveHint: true, openWorldHint: true };

/** Resources that code can reach in the sandbox, as tool descriptions state them. */
export interface GuestFacts {
  /** The hosts that code may connect to. Absent: they are not mentioned. */
  network?: NetworkPolicy | undefined;
  /** The time limit of a run's code, in milliseconds. Absent: no limit is mentioned. */
  timeoutMs?: number | undefined;
  /** Whether a model writes the code of tasks. Otherwise fixed rules do, which only understand simple instructions. */
  hasModel?: boolean | undefined;
  /** Whether there are MCP servers, whose resources and prompts code can read. */
  hasMcpServers?: boolean | undefined;
  /** Folders in addition to `/workspace`. */
  mounts?: readonly Pick<Mount, "guestPath" | "readOnly">[] | undefined;
}

const MAX_NAMED_HOSTS = 5;
const MAX_NAMED_MOUNTS = 5;

/** The network of the sandbox, as a sentence: `No network.` Empty if unknown. */
export function networkSentence({ network }: GuestFacts): string {
  if (network === undefined) return "";
  if (network === "none") return "No network.";
  if (network === "all") return "fetch reaches public hosts.";
  return `fetch reaches only ${listed(network.hosts, MAX_NAMED_HOSTS)}.`;
}

export function filesSentence({ mounts = [] }: GuestFacts): string {
  const others = mounts.map(({ guestPath, readOnly }) => `${guestPath}${readOnly ? " (read-only)" : ""}`);
  const more = others.length === 0 ? "" : `, ${listed(others, MAX_NAMED_MOUNTS)}`;
  return `Files: only /workspace${more}; /workspace/servers is read-only.`;
}

/** A time in seconds, with at most one decimal. */
export function seconds(ms: number): string {
  return `${Math.round(ms / (MS_PER_SECOND / 10)) / 10} s`;
}

function listed(names: readonly string[], limit: number): string {
  const more = names.length > limit ? [`${names.length - limit} more`] : [];
  return [...names.slice(0, limit), ...more].join(", ");
}

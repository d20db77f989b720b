import { CemError } from "@cem/core";
import type { JsonObject } from "@cem/core";
import type { Client } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import { abandonOnAbort } from "@cem/bridge";
import {
  isConnectionLoss,
  isSessionLost,
  serverClosed,
  SessionLost,
  toServerError,
} from "./call-failures.ts";
import type {
  CallOptions,
  LogEntry,
  RawToolResult,
  Root,
  ServerStatus,
  ToolList,
} from "./connection-types.ts";
import { createDeadline } from "@cem/bridge";
import type { Elicit } from "@cem/core";
import { createLink } from "./link.ts";
import type { LinkSettings } from "./link.ts";
import type { OpenClient } from "./open-client.ts";
import { createQuestions } from "./questions.ts";
import type { CallInFlight } from "./questions.ts";
import { createRedact } from "./redaction.ts";
import { DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_MS } from "./server-settings.ts";
import type { McpServerSettings } from "./server-settings.ts";
import type { SignIn } from "./sign-in.ts";
import { callTool } from "./tool-call.ts";
import { fetchToolList } from "./tool-list.ts";

/** Progress gives a call its time again, but not for ever. */
const MAX_TIMEOUT_STRETCH = 10;
const MAX_LOG_CHARACTERS = 4_000;

export interface ConnectionContext {
  identity: LinkSettings["identity"];
  log: (entry: LogEntry) => void;
  elicit?: Elicit | undefined;
  roots?: readonly Root[] | undefined;
  signIn?: SignIn | undefined;
  onToolsChanged: () => void;
}

/** One server, with its limits. */
export interface Connection {
  status(): ServerStatus;
  /** The last list, also when the server is down now. */
  knownTools(): ToolList | undefined;
  listTools(options: { signal: AbortSignal; refresh?: boolean | undefined }): Promise<ToolList>;
  callTool(tool: string, args: JsonObject, options: CallOptions): Promise<RawToolResult>;
  /** Runs one request within the server's time and concurrency limits. */
  request<T>(options: CallOptions, run: Run<T>): Promise<T>;
  /** Forgets failures, so that the next use connects at once. */
  reset(): void;
  close(): Promise<void>;
}

export interface RunOptions {
  /** Ends the request when its time is up. */
  signal: AbortSignal;
  /** Gives the request its time again. */
  onProgress: NonNullable<CallOptions["onProgress"]>;
  call: CallInFlight;
}
export type Run<T> = (open: OpenClient, options: RunOptions) => Promise<T>;

export function createConnection(settings: McpServerSettings, context: ConnectionContext): Connection {
  const { name } = settings;
  const redact = createRedact(settings, () => context.signIn?.secrets() ?? []);
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const limit = pLimit(settings.concurrency ?? DEFAULT_CONCURRENCY);
  const log: LinkSettings["log"] = (level, message, source = "client") =>
    context.log({ server: name, level, source, message: redact(message).slice(0, MAX_LOG_CHARACTERS) });
  const questions = createQuestions(name, context.elicit, log);
  let tools: ToolList | undefined;
  let toolsAreStale = true;
  let listing: Promise<ToolList> | undefined;
  let latencyMs: number | undefined;

  const prepare = (client: Client): void => {
    questions.handle(client);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
    client.onerror = (error) => log("debug", error.message);
    client.setNotificationHandler("notifications/message", ({ params }) => {
      log("info", `${params.level}: ${JSON.stringify(params.data)}`, "protocol");
    });
    const { roots } = context;
    if (roots !== undefined) client.setRequestHandler("roots/list", () => ({ roots: [...roots] }));
  };

  const link = createLink({
    settings,
    identity: context.identity,
    capabilities: {
      elicitation: { form: { applyDefaults: true }, url: {} },
      ...(context.roots === undefined ? {} : { roots: {} }),
    },
    signIn: context.signIn,
    redact,
    log,
    prepare,
    onToolsChanged() {
      toolsAreStale = true;
      context.onToolsChanged();
    },
  });

  const attempt = async <T>(options: CallOptions, run: Run<T>): Promise<T> => {
    const opened = await link.ready(options.signal);
    const deadline = createDeadline(timeoutMs, timeoutMs * MAX_TIMEOUT_STRETCH, options.signal);
    const { onWaiting, elicit, session } = options;
    const call: CallInFlight = { deadline, onWaiting, elicit, session };
    const onProgress: RunOptions["onProgress"] = (progress) => {
      deadline.restart();
      options.onProgress?.(progress);
    };
    questions.begin(call);
    try {
      const result = await run(opened, { signal: deadline.signal, onProgress, call });
      link.answered();
      return result;
    } catch (thrown) {
      if (options.signal.aborted) throw thrown;
      if (link.signal.aborted) throw serverClosed(name);
      if (deadline.expired) {
        throw new CemError("TOOL_TIMEOUT", `Server "${name}" did not answer within ${timeoutMs} ms.`, {
          details: { server: name, timeoutMs },
        });
      }
      if (isSessionLost(thrown, opened.client)) {
        link.giveUp(opened);
        throw new SessionLost(thrown);
      }
      const isLost = isConnectionLoss(thrown);
      if (isLost) await opened.process?.waitForExit();
      const error = toServerError(thrown, { server: name, redact, exit: opened.process?.describeExit() });
      const { requiredScope } = error.details;
      if (typeof requiredScope === "string") await context.signIn?.requireScope(requiredScope);
      if (isLost && opened.transportKind === "http") link.troubled(error);
      else if (isLost || error.code === "AUTH_REQUIRED") link.giveUp(opened, error);
      throw error;
    } finally {
      questions.end(call);
      deadline.dispose();
    }
  };

  /** A request of a lost session was not carried out, so it may be sent once more in a new one. */
  const attemptTwice = async <T>(options: CallOptions, run: Run<T>): Promise<T> => {
    try {
      return await attempt(options, run);
    } catch (error) {
      if (!(error instanceof SessionLost)) throw error;
      return attempt(options, run);
    }
  };

  const settle = async <T>(options: CallOptions, work: Promise<T>): Promise<T> => {
    try {
      return await abandonOnAbort(work, options.signal);
    } catch (thrown) {
      work.catch(() => {});
      if (options.signal.aborted) {
        throw new CemError("ABORTED", `The call to server "${name}" was cancelled.`, {
          details: { server: name },
        });
      }
      throw toServerError(thrown instanceof SessionLost ? thrown.cause : thrown, { server: name, redact });
    }
  };

  const request: Connection["request"] = (options, run) =>
    settle(
      options,
      limit(async () => {
        options.signal.throwIfAborted();
        return attemptTwice(options, run);
      }),
    );

  const list = async (): Promise<ToolList> => {
    toolsAreStale = false;
    try {
      // Outside of the limit: a call that holds a place in it may need the list.
      const options = { signal: link.signal };
      const work = attemptTwice(options, (opened, { signal }) => fetchToolList(opened, { signal }));
      const fetched = await settle(options, work);
      ({ latencyMs } = fetched);
      tools = fetched.list;
      for (const { name, reason } of tools.leftOut) log("warn", `Tool "${name}" is left out: ${reason}.`);
      if (tools.cut !== undefined) log("warn", `The list of tools is not complete: ${tools.cut}.`);
      return tools;
    } catch (error) {
      toolsAreStale = true;
      throw error;
    }
  };

  const listTools: Connection["listTools"] = async ({ signal, refresh }) => {
    if (link.signal.aborted) throw serverClosed(name);
    if (tools !== undefined && !toolsAreStale && refresh !== true) return tools;
    if (listing === undefined) {
      listing = list().finally(() => (listing = undefined));
      listing.catch(() => {});
    }
    return abandonOnAbort(listing, signal);
  };

  return {
    status() {
      const { current, waitMs, lastError } = link;
      const pid = current?.process?.pid;
      const protocol = current?.client.getNegotiatedProtocolVersion() ?? tools?.protocol;
      const server = current?.client.getServerVersion() ?? tools?.server;
      return {
        name,
        state: link.state,
        transport: current?.transportKind ?? settings.transport.kind,
        ...(protocol === undefined ? {} : { protocol }),
        ...(server === undefined ? {} : { server: { name: server.name, version: server.version } }),
        ...(tools === undefined ? {} : { toolCount: tools.tools.length, leftOutCount: tools.leftOut.length }),
        ...(latencyMs === undefined ? {} : { latencyMs }),
        ...(lastError === undefined ? {} : { lastError }),
        ...(waitMs === 0 ? {} : { retryInMs: waitMs }),
        ...(typeof pid === "number" ? { pid } : {}),
      };
    },
    knownTools: () => tools,
    listTools,
    request,
    callTool: (tool, args, options) =>
      request(options, async (opened, { signal, onProgress, call }) => {
        const result = await callTool(opened, tool, args, {
          signal,
          onProgress,
          findTool: () => tools?.tools.find((known) => known.name === tool),
          async refresh() {
            await listTools({ signal, refresh: true });
          },
        });
        const { declinedQuestion } = call;
        return declinedQuestion === undefined ? result : { ...result, declinedQuestion };
      }),
    reset: () => link.reset(),
    close: () => link.close(),
  };
}

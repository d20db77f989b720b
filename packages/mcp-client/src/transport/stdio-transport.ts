import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { abandonOnAbort, createLineSplitter, messageIdIn, parseJson, type JsonValue } from "@cem/core";
import { GROUP_MARK, isGroupAlive, signalGroup, trackGroup, untrackGroup } from "@cem/core/files";
import { parseJSONRPCMessage, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import type { StdioSettings } from "../settings/server-settings.ts";
import { AnswerRoom, LARGE_BYTES, TOO_LARGE } from "./large-answers.ts";
import { createBrake, weightOf } from "./brake.ts";
import { createDirectRequests, type DirectRequests } from "./direct-requests.ts";
import { CallContexts } from "./running-calls.ts";

/** Limit of one message of a server. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Limit of other messages than tool answers, which this thread parses. */
const MAX_PARSED_BYTES = 16 * 1024 * 1024;
/** Number of bytes at each end of a message that are searched for its id. */
const END_BYTES = 256;
/** Limit of an oversized message, of which only the ends are kept. Beyond it, the server is ended. */
const MAX_SKIPPED_BYTES = 4 * MAX_MESSAGE_BYTES;
const MAX_STDERR_LINE_BYTES = 64 * 1024;
const KEPT_STDERR_LINES = 10;
/** Irrelevant lines of npm and stack traces, and empty ones. */
const CHATTER =
  /^npm (?:notice|warn)\b|^npm (?:error|ERR!)\s+(?:A complete log of this run|\S+_logs\b|$)|^\s+at\s|^\s*$/u;
/** A package or version that a registry does not have. */
const MISSING_PACKAGE =
  /^npm (?:error|ERR!) (?:404 [^'\n]{0,200}'|notarget No matching version found for )([^'\s]{1,214}?)(?:@\*)?(?:'|\.?$)/mu;
/** JSON-RPC code. */
const INTERNAL_ERROR = -32_603;
/** How long the process may take to exit after its input ended, and again after SIGTERM. */
const GRACE_MS = 1_000;
const POLL_MS = 20;
const LAST_WORDS_MS = 500;

export interface StdioTransportOptions {
  /** Called with each line the process writes to stderr. */
  onStderr: (line: string) => void;
  /** Called with warnings about the server, such as that it sends too much. */
  onWarning?: ((message: string) => void) | undefined;
}

/** The SDK's transport interface over a child process. */
export interface StdioTransport extends Transport {
  /** The id of the process. `null` before it is started. */
  readonly pid: number | null;
  /** Sends a request without the SDK. */
  readonly request: DirectRequests["request"];
  /** The SDK distinguishes stdio from HTTP by these two members. */
  readonly stderr: null;
  /** How the process ended and what it last wrote to stderr, as a clause. `undefined` while it runs. */
  describeExit(): string | undefined;
  /** Resolves when the process has ended, or after a second: its pipes close shortly before its exit is reported. */
  waitForExit(): Promise<void>;
}

/**
 * Creates a transport that starts a server in a process group of its own and exchanges newline-delimited JSON-RPC
 * messages with it. Unlike the SDK's transport, it also ends the server's own child processes, and it reports how the
 * process ended.
 */
export function createStdioTransport(
  settings: StdioSettings,
  { onStderr, onWarning }: StdioTransportOptions,
): StdioTransport {
  let child: ChildProcess | undefined;
  let exit: string | undefined;
  const exited = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const lastWords: string[] = [];
  const contexts = new CallContexts();
  /** Ids of tool calls sent by the SDK. */
  const calls = new Set<JsonValue>();
  /** @returns whether more can be written immediately. */
  const write = (message: object): boolean => {
    const input = child?.stdin;
    if (!input || !input.writable)
      throw new SdkError(SdkErrorCode.NotConnected, "The server's process has ended.");
    return input.write(`${JSON.stringify(message)}\n`);
  };
  const direct = createDirectRequests(write);

  const transport: StdioTransport = {
    stderr: null,
    request: direct.request,
    get pid() {
      return child?.pid ?? null;
    },
    async start() {
      if (child !== undefined) throw new Error("This transport was started before.");
      const { default: spawn } = await import("cross-spawn");
      const mark = randomUUID();
      const started = spawn(settings.command, [...(settings.args ?? [])], {
        env: { ...environmentOf(settings), [GROUP_MARK]: mark },
        stdio: ["pipe", "pipe", "pipe"],
        detached: process.platform !== "win32",
        windowsHide: true,
        cwd: settings.cwd,
      });
      child = started;
      started.once("error", (error) => transport.onerror?.(error));
      started.once("exit", (code, signal) => {
        exit ??= signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
        exited.resolve();
      });
      started.once("close", () => {
        closed.resolve();
        if (!isGroupAlive(started)) untrackGroup(started);
        transport.onclose?.();
        direct.close();
      });
      const noteStderr = (line: string): void => {
        if (!CHATTER.test(line)) lastWords.push(line);
        if (lastWords.length > KEPT_STDERR_LINES) lastWords.shift();
        onStderr(line);
      };
      listen(started, transport, { contexts, calls, direct, onStderr: noteStderr, onWarning }, (reason) => {
        exit = `was ended, since ${reason}`;
        lastWords.length = 0;
      });
      await once(started, "spawn");
      trackGroup(started, mark);
    },
    async send(message) {
      contexts.note(message);
      if ("id" in message && "method" in message && message.method === "tools/call") calls.add(message.id);
      const input = child?.stdin;
      if (!write(message) && input)
        await Promise.race([once(input, "drain").catch(() => {}), closed.promise]);
    },
    async close() {
      if (child !== undefined) await endGroup(child);
    },
    async waitForExit() {
      await abandonOnAbort(exited.promise, AbortSignal.timeout(GRACE_MS)).catch(() => {});
      // Its last output may still be on its way, and its own children may hold the pipe open.
      if (exit !== undefined)
        await Promise.race([closed.promise, sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    },
    describeExit() {
      if (exit === undefined) return undefined;
      const words = lastWords.join("\n").trim();
      if (words === "") return `its process ${exit}`;
      const [, missing] = MISSING_PACKAGE.exec(words) ?? [];
      if (missing !== undefined) return `npm has no package "${missing}". Check its name and version`;
      return `its process ${exit} after writing: ${words}${npxAdvice(settings, words)}`;
    },
  };
  return transport;
}

/**
 * A hint for `npx` in a workspace: it treats a package as installed that only a linked package depends on, and then fails
 * to find its command.
 */
function npxAdvice({ command, args = [] }: StdioSettings, words: string): string {
  if (!/(?:^|[\\/])npx(?:\.cmd)?$/i.test(command) || !/not found|not recognized/i.test(words)) return "";
  const name = args.find((arg) => !arg.startsWith("-"));
  if (name === undefined || name.lastIndexOf("@") > 0) return "";
  return ` (npx found ${name} among the packages of this project, but not its command; ${name}@latest is fetched in any case)`;
}

interface ListenOptions extends StdioTransportOptions {
  contexts: CallContexts;
  calls: Set<JsonValue>;
  direct: DirectRequests;
}

function listen(
  child: ChildProcess,
  transport: Transport,
  { contexts, calls, direct, onStderr, onWarning }: ListenOptions,
  onEnding: (reason: string) => void,
): void {
  const fail = (error: unknown): void => {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
  };
  child.stdin?.on("error", fail);
  child.stdout?.on("error", fail);
  child.stderr?.on("error", fail);

  // The SDK handles notifications asynchronously and responses at once. Messages are delivered in separate
  // microtasks, so that a call's response does not overtake its progress.
  let delivered = Promise.resolve();
  const inTurn = (work: () => void): void => {
    delivered = delivered.then(work).catch(fail);
  };
  const deliver = (message: JSONRPCMessage): void =>
    inTurn(() => contexts.run(message, () => transport.onmessage?.(message)));
  const endForSize = (): void => {
    onEnding(
      `it sent a message of more than ${MAX_MESSAGE_BYTES} bytes, the most that is read: ask it for less at a time`,
    );
    signalGroup(child, "SIGKILL");
  };
  let lineBytes = 0;
  const room = new AnswerRoom();
  const mayGrow = (bytes: number): boolean => bytes <= MAX_MESSAGE_BYTES && room.holds(bytes);
  const takeTooLarge = (ends: [string, string], limit = MAX_MESSAGE_BYTES): void => {
    room.release();
    const id = messageIdIn(ends);
    const message = `the answer has more than ${limit / 2 ** 20} MiB, or all that are read now have too many: ask for less at a time`;
    if (id === undefined) return endForSize();
    takeMessage({ jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message, data: TOO_LARGE } });
  };
  const takeMessage = (answer: JSONRPCMessage & { id: number | string }): void => {
    calls.delete(answer.id);
    if (direct.concerns(answer as unknown as JsonValue))
      inTurn(() => direct.take(answer as unknown as JsonValue));
    else deliver(answer);
  };
  /** A large tool answer is parsed later, when it is mapped. */
  const takeLarge = (line: Buffer): void => {
    const ends: [string, string] = [
      line.toString("utf8", 0, END_BYTES),
      line.toString("utf8", line.length - END_BYTES),
    ];
    const id = ends[0].includes('"method"') ? undefined : messageIdIn(ends);
    if (id !== undefined && (calls.has(id) || direct.concerns({ jsonrpc: "2.0", id, result: {} })))
      takeMessage(room.standIn(id, line) as unknown as JSONRPCMessage & { id: number });
    else if (line.length > MAX_PARSED_BYTES) takeTooLarge(ends, MAX_PARSED_BYTES);
    else takeLine(line.toString("utf8"));
    room.release();
  };
  const splitMessages = createLineSplitter(mayGrow, takeTooLarge, { bytes: LARGE_BYTES, take: takeLarge });
  const brake = createBrake(onWarning);
  let others = 0;
  const takeLine = (line: string): void => {
    const text = line.trim();
    const read = text === "" ? undefined : (parseJson(text) as JsonValue | undefined);
    // In revision 2025-03-26 a line may be a batch.
    const batch = Array.isArray(read) && read.length > 0 ? read : [read];
    for (const one of batch) takeRead(one, text);
  };
  const takeRead = (read: JsonValue | undefined, text: string): void => {
    const weight = weightOf(text.length);
    if (read !== undefined && direct.concerns(read)) {
      inTurn(() => direct.take(read));
      if ("method" in (read as object)) others += weight;
      return;
    }
    const message = messageIn(read);
    // Other output, such as a banner, is reported and skipped.
    if (message === undefined && text !== "")
      fail(new Error(`The server wrote a line that is not a message: ${text.slice(0, 200)}`));
    if (message !== undefined && "id" in message && !("method" in message))
      calls.delete(message.id as JsonValue);
    if (message !== undefined) deliver(message);
    if (message === undefined || "method" in message) others += weight;
  };
  child.stdout?.on("data", (chunk: Buffer) => {
    others = 0;
    const lines = splitMessages(chunk);
    // Large lines are handled as bytes and not counted here.
    lineBytes = chunk.includes("\n") ? 0 : lineBytes + chunk.length;
    if (lineBytes > MAX_SKIPPED_BYTES) endForSize();
    for (const line of lines) takeLine(line);
    const pauseMs = brake(others);
    if (pauseMs === 0) return;
    child.stdout?.pause();
    setTimeout(() => child.stdout?.resume(), pauseMs).unref();
  });

  const splitStderr = createLineSplitter(MAX_STDERR_LINE_BYTES);
  child.stderr?.on("data", (chunk: Buffer) => {
    try {
      for (const line of splitStderr(chunk)) if (line.trim() !== "") onStderr(line.trimEnd());
    } catch {
      onStderr(`(a line of more than ${MAX_STDERR_LINE_BYTES} bytes was dropped)`);
    }
  });
}

function messageIn(read: JsonValue | undefined): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(read);
  } catch {
    return undefined;
  }
}

async function endGroup(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (await waitForEnd(child)) break;
    signalGroup(child, signal);
  }
  await waitForEnd(child);
  child.stdout?.destroy();
  child.stderr?.destroy();
  untrackGroup(child);
}

async function waitForEnd(child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + GRACE_MS;
  while (isGroupAlive(child)) {
    if (Date.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Proxies, certificate authorities and package registries. A server started by `npx` or `uvx` may need them. */
const NETWORK_VARIABLE =
  /^(?:(?:https?|all|no)_proxy|node_extra_ca_certs|node_use_system_ca|node_use_env_proxy|ssl_cert_(?:file|dir)|npm_config_(?:registry|cafile|proxy|https_proxy|noproxy)|uv_(?:default_index|index_url)|pip_(?:index_url|cert)|requests_ca_bundle|curl_ca_bundle)$/i;

/** The environment of a server's process. */
export function environmentOf({ env }: StdioSettings): NodeJS.ProcessEnv {
  return { ...getDefaultEnvironment(), ...networkEnvironment(), ...env };
}

/** The environment variables for network access. */
export function networkEnvironment(environment = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => NETWORK_VARIABLE.test(name)));
}

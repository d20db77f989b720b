import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { abandonOnAbort, createLineSplitter } from "@cem/core";
import { parseJSONRPCMessage, serializeMessage } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import type { StdioSettings } from "../settings/server-settings.ts";
import { isGroupAlive, signalGroup, trackGroup, untrackGroup } from "./process-group.ts";
import { createCallContexts } from "./running-calls.ts";
import type { CallContexts } from "./running-calls.ts";

/** Limit of one message of a server. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_LINE_BYTES = 64 * 1024;
const KEPT_STDERR_LINES = 10;
/** Lines of npm that don't say why it failed. */
const NPM_CHATTER =
  /^npm (?:notice|warn)\b|^npm (?:error|ERR!)\s+(?:A complete log of this run|\S+_logs\b|$)/u;
/** The package that a registry does not have, at all or in this version. */
const MISSING_PACKAGE =
  /^npm (?:error|ERR!) (?:404 [^'\n]{0,200}'|notarget No matching version found for )([^'\s]{1,214}?)(?:@\*)?(?:'|\.?$)/mu;
const DEFAULT_GRACE_MS = 1_000;
const POLL_MS = 20;
const LAST_WORDS_MS = 500;

/** Options of {@link createStdioTransport}. */
export interface StdioTransportOptions {
  /** Called with each line the process writes to stderr. */
  onStderr: (line: string) => void;
  /**
   * How long the process may take to exit after its input ended, and again after SIGTERM, in milliseconds.
   *
   * @defaultValue 1,000
   */
  graceMs?: number | undefined;
}

/** The SDK's transport interface over a child process. */
export interface StdioTransport extends Transport {
  /** The id of the process. `null` before it is started. */
  readonly pid: number | null;
  /** The SDK tells stdio from HTTP by these two members. */
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
  { onStderr, graceMs = DEFAULT_GRACE_MS }: StdioTransportOptions,
): StdioTransport {
  let child: ChildProcess | undefined;
  let exit: string | undefined;
  const exited = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const lastWords: string[] = [];
  const contexts = createCallContexts();

  const transport: StdioTransport = {
    stderr: null,
    get pid() {
      return child?.pid ?? null;
    },
    async start() {
      if (child !== undefined) throw new Error("This transport was started before.");
      const { default: spawn } = await import("cross-spawn");
      await new Promise<void>((resolve, reject) => {
        const started = spawn(settings.command, [...(settings.args ?? [])], {
          env: { ...getDefaultEnvironment(), ...networkEnvironment(), ...settings.env },
          stdio: ["pipe", "pipe", "pipe"],
          detached: process.platform !== "win32",
          windowsHide: true,
          cwd: settings.cwd,
        });
        child = started;
        started.once("error", (error) => {
          reject(error);
          transport.onerror?.(error);
        });
        started.once("spawn", () => {
          trackGroup(started);
          resolve();
        });
        started.once("exit", (code, signal) => {
          exit ??= signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
          exited.resolve();
        });
        started.once("close", () => {
          closed.resolve();
          if (!isGroupAlive(started)) untrackGroup(started);
          transport.onclose?.();
        });
        const onLine = (line: string): void => {
          if (!NPM_CHATTER.test(line)) lastWords.push(line);
          if (lastWords.length > KEPT_STDERR_LINES) lastWords.shift();
          onStderr(line);
        };
        listen(started, transport, contexts, onLine, (reason) => {
          exit = `was ended, since ${reason}`;
          lastWords.length = 0;
        });
      });
    },
    async send(message) {
      const input = child?.stdin;
      contexts.note(message);
      if (!input || !input.writable) throw new Error("The server's process has ended.");
      if (input.write(serializeMessage(message))) return;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          input.off("drain", done);
          input.off("close", done);
          resolve();
        };
        input.on("drain", done);
        input.on("close", done);
      });
    },
    async close() {
      if (child !== undefined) await endGroup(child, graceMs);
    },
    async waitForExit() {
      await abandonOnAbort(exited.promise, AbortSignal.timeout(graceMs)).catch(() => {});
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
 * A hint for the case that `npx` takes a package for installed that only a package linked into the project depends on, as in a
 * workspace: it then runs a command that is not there.
 */
function npxAdvice({ command, args = [] }: StdioSettings, words: string): string {
  if (!/(?:^|[\\/])npx(?:\.cmd)?$/i.test(command) || !/not found|not recognized/i.test(words)) return "";
  const name = args.find((arg) => !arg.startsWith("-"));
  if (name === undefined || name.lastIndexOf("@") > 0) return "";
  return ` (npx found ${name} among the packages of this project, but not its command; ${name}@latest is fetched in any case)`;
}

function listen(
  child: ChildProcess,
  transport: Transport,
  contexts: CallContexts,
  onStderr: (line: string) => void,
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
  const deliver = (message: JSONRPCMessage): void => {
    delivered = delivered.then(() => contexts.run(message, () => transport.onmessage?.(message))).catch(fail);
  };
  const splitMessages = createLineSplitter(MAX_MESSAGE_BYTES);
  child.stdout?.on("data", (chunk: Buffer) => {
    try {
      for (const line of splitMessages(chunk)) {
        const message = readMessage(line, fail);
        if (message !== undefined) deliver(message);
      }
    } catch (error) {
      fail(error);
      onEnding(
        `it sent a message of more than ${MAX_MESSAGE_BYTES} bytes, the most that is read: ask it for less at a time`,
      );
      signalGroup(child, "SIGKILL");
    }
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

/** Parses a message. A line that is none, such as a banner, is reported and skipped. */
function readMessage(line: string, fail: (error: unknown) => void): JSONRPCMessage | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  try {
    return parseJSONRPCMessage(JSON.parse(text));
  } catch {
    fail(new Error(`The server wrote a line that is not a message: ${text.slice(0, 200)}`));
    return undefined;
  }
}

async function endGroup(child: ChildProcess, graceMs: number): Promise<void> {
  child.stdin?.end();
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (await waitForEnd(child, graceMs)) break;
    signalGroup(child, signal);
  }
  await waitForEnd(child, graceMs);
  child.stdout?.destroy();
  child.stderr?.destroy();
  untrackGroup(child);
}

async function waitForEnd(child: ChildProcess, graceMs: number): Promise<boolean> {
  const deadline = Date.now() + graceMs;
  while (isGroupAlive(child)) {
    if (Date.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Proxies, certificate authorities and package registries. A server started by `npx` or `uvx` may need them. */
const NETWORK_VARIABLE =
  /^(?:(?:https?|all|no)_proxy|node_extra_ca_certs|node_use_system_ca|node_use_env_proxy|ssl_cert_(?:file|dir)|npm_config_(?:registry|cafile|proxy|https_proxy|noproxy)|uv_(?:default_index|index_url)|pip_(?:index_url|cert)|requests_ca_bundle|curl_ca_bundle)$/i;

/** The environment variables that say how to reach the network. */
export function networkEnvironment(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const found = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && NETWORK_VARIABLE.test(entry[0]),
  );
  return Object.fromEntries(found);
}

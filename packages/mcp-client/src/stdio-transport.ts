import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { parseJSONRPCMessage, serializeMessage } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { createLineSplitter } from "./line-splitter.ts";
import { isGroupAlive, signalGroup, trackGroup, untrackGroup } from "./process-group.ts";
import { networkEnvironment } from "./network-environment.ts";
import type { StdioSettings } from "./server-settings.ts";

/** One message of a server. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MAX_STDERR_LINE_BYTES = 64 * 1024;
const KEPT_STDERR_LINES = 10;
/** How long a server may take to leave after its input ended, and again after SIGTERM. */
const GRACE_MS = 1_000;
const POLL_MS = 20;

export interface StdioTransport extends Transport {
  /** The started process. `null` before and after. */
  readonly pid: number | null;
  /** The SDK tells stdio from HTTP by these two members. */
  readonly stderr: null;
  /** How the process ended and what it last wrote to stderr, in a sentence. `undefined` while it runs. */
  describeExit(): string | undefined;
  /** Resolves when the process has ended, or soon: its pipes break a moment before it is known how it ended. */
  waitForExit(): Promise<void>;
}

/**
 * Starts a server as a process of its own group and speaks newline-delimited JSON-RPC with it. Unlike the
 * SDK's transport it ends what the server itself started, and tells how the process ended.
 */
export function createStdioTransport(
  settings: StdioSettings,
  onStderr: (line: string) => void,
): StdioTransport {
  let child: ChildProcess | undefined;
  let exit: string | undefined;
  const exited = Promise.withResolvers<void>();
  const lastWords: string[] = [];

  const transport: StdioTransport = {
    stderr: null,
    get pid() {
      return child?.pid ?? null;
    },
    async start() {
      if (child !== undefined) throw new Error("This server was started before.");
      const { default: spawn } = await import("cross-spawn");
      await new Promise<void>((resolve, reject) => {
        const started = spawn(settings.command, [...(settings.args ?? [])], {
          env: { ...getDefaultEnvironment(), ...networkEnvironment(), ...settings.env },
          stdio: ["pipe", "pipe", "pipe"],
          detached: process.platform !== "win32",
          windowsHide: true,
          ...(settings.cwd === undefined ? {} : { cwd: settings.cwd }),
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
          exit = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
          exited.resolve();
        });
        started.once("close", () => {
          if (!isGroupAlive(started)) untrackGroup(started);
          transport.onclose?.();
        });
        listen(started, transport, (line) => {
          lastWords.push(line);
          if (lastWords.length > KEPT_STDERR_LINES) lastWords.shift();
          onStderr(line);
        });
      });
    },
    async send(message) {
      const input = child?.stdin;
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
      if (child !== undefined) await endGroup(child);
    },
    async waitForExit() {
      await Promise.race([exited.promise, sleep(GRACE_MS, undefined, { ref: false })]);
    },
    describeExit() {
      if (exit === undefined) return undefined;
      const words = lastWords.join("\n").trim();
      return words === "" ? `its process ${exit}` : `its process ${exit} after writing: ${words}`;
    },
  };
  return transport;
}

function listen(child: ChildProcess, transport: Transport, onStderr: (line: string) => void): void {
  const fail = (error: unknown): void => {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
  };
  child.stdin?.on("error", fail);
  child.stdout?.on("error", fail);
  child.stderr?.on("error", fail);

  // The SDK handles a notification a moment after it gets it, but a response at once: without a break in
  // between, the response of a call would overtake its progress.
  let delivered = Promise.resolve();
  const deliver = (message: JSONRPCMessage): void => {
    delivered = delivered.then(() => transport.onmessage?.(message)).catch(fail);
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

/** Servers print banners and stray text to stdout; those lines are reported and passed over. */
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

import { mkdtemp, rm } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CemError, toErrorInfo } from "@cem/core";
import { ForwardingFront } from "@cem/mcp-server/forwarding-front";
import type { ThreadServerOptions } from "./messages.ts";
import { ServerThread, THREAD_TIMING } from "./server-thread.ts";
import type { ThreadEnd, ThreadTiming } from "./server-thread.ts";

/** Restarts in a row, each within `MIN_UPTIME_MS` of the one before, after which the server is given up. */
const MAX_RESTARTS = 5;
const MIN_UPTIME_MS = 60_000;

/** A server in a thread of its own. */
export interface ThreadServer {
  /** Where clients connect. */
  readonly url: string;
  /** Resolves once nothing is served any more. Rejects where the server stopped again and again. */
  readonly closed: Promise<void>;
  /** Gives calls under way `graceMs` to finish, by default `server.shutdown_grace`. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Serves over HTTP as `runServer` does, with all work in a thread of its own: accepting clients and `/healthz` do not
 * wait for it. Where that thread stops or hangs, its requests fail, and another one takes its place.
 *
 * @param onRestart - Called with the reason before another thread is started.
 * @param timing - How long threads are waited for.
 * @throws CemError as `runServer`.
 */
export async function runServerInThread(
  options: ThreadServerOptions,
  onRestart: (reason: string) => void = () => {},
  timing: ThreadTiming = THREAD_TIMING,
): Promise<ThreadServer> {
  const service = new Service(options, onRestart, timing);
  return service.start();
}

class Service {
  readonly #options: ThreadServerOptions;
  readonly #onRestart: (reason: string) => void;
  readonly #timing: ThreadTiming;
  readonly #front = new ForwardingFront();
  readonly #closed = Promise.withResolvers<void>();
  #folder = "";
  #threads = 0;
  #restarts = 0;
  #current: ServerThread | undefined;
  #closing: { graceMs: number | undefined } | undefined;

  constructor(options: ThreadServerOptions, onRestart: (reason: string) => void, timing: ThreadTiming) {
    this.#options = options;
    this.#onRestart = onRestart;
    this.#timing = timing;
  }

  async start(): Promise<ThreadServer> {
    this.#folder = await mkdtemp(path.join(tmpdir(), "cem-"));
    let url: string;
    try {
      ({ url } = await this.#startThread());
    } catch (error) {
      await this.#release();
      throw error;
    }
    const close = (graceMs?: number): Promise<void> => {
      this.#closing ??= { graceMs };
      this.#current?.close(graceMs);
      return this.#closed.promise;
    };
    return { url, closed: this.#closed.promise, close };
  }

  async #startThread(): Promise<{ url: string }> {
    const thread = new ServerThread(
      { options: this.#options, socketPath: this.#socketPath(), compileCache: getCompileCacheDir() },
      this.#front,
      this.#timing,
    );
    this.#current = thread;
    void thread.ended.then((end) => this.#onEnd(thread, end));
    const started = await thread.serving;
    if (this.#closing !== undefined) thread.close(this.#closing.graceMs);
    return started;
  }

  /** A path that no thread before had, short enough for the system. */
  #socketPath(): string {
    this.#threads++;
    if (process.platform !== "win32") return path.join(this.#folder, `${this.#threads}.sock`);
    return String.raw`\\.\pipe\${path.basename(this.#folder)}-${this.#threads}`;
  }

  async #onEnd(thread: ServerThread, end: ThreadEnd): Promise<void> {
    if (!thread.served) return;
    this.#front.forwardTo(undefined);
    if (end.reason === undefined || this.#closing !== undefined) {
      await this.#release();
      this.#closed.resolve();
      return;
    }
    this.#restarts = end.uptimeMs < MIN_UPTIME_MS ? this.#restarts + 1 : 1;
    try {
      if (this.#restarts > MAX_RESTARTS) {
        throw new CemError("UNEXPECTED", `The server stopped ${MAX_RESTARTS} times in a row: ${end.reason}.`);
      }
      this.#onRestart(end.reason);
      await delay(this.#timing.restartDelayMs * this.#restarts);
      await this.#startThread();
    } catch (error) {
      await this.#release();
      this.#closed.reject(error);
    }
  }

  async #release(): Promise<void> {
    await this.#front.close();
    await rm(this.#folder, { recursive: true, force: true }).catch((error: unknown) => toErrorInfo(error));
  }
}

import { Worker } from "node:worker_threads";
import { CemError, toErrorInfo } from "@cem/core";
import type { ErrorInfo } from "@cem/core";
import type { ForwardingFront } from "@cem/mcp-server/forwarding-front";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";

type ListenMessage = Extract<FromThread, { type: "listen" }>;

/** How long threads are waited for, in milliseconds. */
export interface ThreadTiming {
  pingIntervalMs: number;
  /** How long a thread may do one thing before it counts as hung. */
  hangMs: number;
  /** The same, while it starts. */
  startMs: number;
  /** The same, once it is asked to close. */
  closeMs: number;
  /** Before another thread is started, times the number of restarts in a row. */
  restartDelayMs: number;
}

/** The timing of servers for people. */
export const THREAD_TIMING: ThreadTiming = {
  pingIntervalMs: 1_000,
  hangMs: 60_000,
  startMs: 60_000,
  closeMs: 5_000,
  restartDelayMs: 500,
};

/** How a thread ended. */
export interface ThreadEnd {
  /** Why it ended; `undefined` where it was closed. */
  reason: string | undefined;
  uptimeMs: number;
}

/** One thread with a server in it. */
export class ServerThread {
  readonly #worker: Worker;
  readonly #front: ForwardingFront;
  readonly #socketPath: string;
  readonly #started = performance.now();
  readonly #serving = Promise.withResolvers<{ url: string }>();
  readonly #ended = Promise.withResolvers<ThreadEnd>();
  readonly #timing: ThreadTiming;
  readonly #watchdog: NodeJS.Timeout;
  #isClosing = false;
  #hasEnded = false;
  #heard = performance.now();
  /** Whether it served for a while, and did not fail at the start. */
  served = false;

  constructor(data: ThreadData, front: ForwardingFront, timing: ThreadTiming) {
    this.#timing = timing;
    this.#front = front;
    this.#socketPath = data.socketPath;
    this.#worker = new Worker(entryOfThread(), { workerData: data });
    this.#worker.on("message", (message: FromThread) => void this.#receive(message));
    this.#worker.once("error", (error) => this.#end(toErrorInfo(error).message));
    this.#worker.once("exit", (code) => this.#end(`its thread ended with code ${code}`));
    this.#watchdog = setInterval(() => this.#watch(), timing.pingIntervalMs).unref();
  }

  /** Resolves when clients can connect. @throws CemError why they can't. */
  get serving(): Promise<{ url: string }> {
    return this.#serving.promise;
  }

  /** Resolves when the thread is no more. */
  get ended(): Promise<ThreadEnd> {
    return this.#ended.promise;
  }

  /** Gives calls under way `graceMs` milliseconds to finish, then ends the thread. */
  close(graceMs: number | undefined): void {
    this.#isClosing = true;
    this.#send({ type: "close", graceMs });
  }

  async #receive(message: FromThread): Promise<void> {
    this.#heard = performance.now();
    switch (message.type) {
      case "listen":
        return this.#listen(message);
      case "serving":
        this.served = true;
        return this.#serving.resolve({ url: message.url });
      case "failed":
        this.#serving.reject(errorOf(message.error));
        return this.#end(message.error.message);
      case "stop-listening":
        return this.#front.stop();
      case "closed":
        return this.#end(undefined);
      case "pong":
        return undefined;
    }
  }

  async #listen({ host, port, trustedProxies }: ListenMessage): Promise<void> {
    try {
      const bound = await this.#front.listen(host, port, trustedProxies);
      this.#front.forwardTo(this.#socketPath);
      this.#send({ type: "listening", port: bound });
    } catch (error) {
      this.#send({ type: "listen-failed", error: toErrorInfo(error) });
    }
  }

  #watch(): void {
    const silentMs = performance.now() - this.#heard;
    if (silentMs > this.#patienceMs())
      this.#end(`it did one thing for ${Math.round(silentMs / 1_000)} seconds`);
    else this.#send({ type: "ping" });
  }

  #patienceMs(): number {
    const { startMs, hangMs, closeMs } = this.#timing;
    if (!this.served) return startMs;
    return this.#isClosing ? closeMs : hangMs;
  }

  #end(reason: string | undefined): void {
    // The exit that follows a failure tells nothing new.
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#watchdog);
    const uptimeMs = performance.now() - this.#started;
    const message = `The server can't start: ${reason ?? "it was closed"}.`;
    this.#serving.reject(new CemError("UNEXPECTED", message));
    this.#serving.promise.catch(() => {});
    void this.#worker.terminate().then(() => this.#ended.resolve({ reason, uptimeMs }));
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message, []);
  }
}

/** The module of the thread: a source beside this one, or a built file beside the package's others. */
function entryOfThread(): URL {
  const isSource = import.meta.url.endsWith(".ts");
  return new URL(isSource ? "./thread.ts" : "./server-thread.js", import.meta.url);
}

function errorOf({ code, message, details }: ErrorInfo): CemError {
  return new CemError(code, message, { details });
}

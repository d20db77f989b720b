import { Worker } from "node:worker_threads";
import { CemError, toErrorInfo } from "@cem/core";
import type { ErrorInfo } from "@cem/core";
import type { ForwardingFront } from "@cem/mcp-server/forwarding-front";
import type { FromThread, ThreadData, ToThread } from "./messages.ts";

const PING_INTERVAL_MS = 5_000;
/** How long a thread may do one thing before it counts as hung. */
const HANG_MS = 60_000;

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
  readonly #watchdog: NodeJS.Timeout;
  #heard = performance.now();
  /** Whether it served for a while, and did not fail at the start. */
  served = false;

  constructor(data: ThreadData, front: ForwardingFront) {
    this.#front = front;
    this.#socketPath = data.socketPath;
    this.#worker = new Worker(entryOfThread(), { workerData: data });
    this.#worker.on("message", (message: FromThread) => void this.#receive(message));
    this.#worker.once("error", (error) => this.#end(toErrorInfo(error).message));
    this.#worker.once("exit", (code) => this.#end(`its thread ended with code ${code}`));
    this.#watchdog = setInterval(() => this.#watch(), PING_INTERVAL_MS).unref();
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
    this.#send({ type: "close", graceMs });
  }

  async #receive(message: FromThread): Promise<void> {
    this.#heard = performance.now();
    switch (message.type) {
      case "listen":
        return this.#listen(message.host, message.port);
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

  async #listen(host: string, port: number): Promise<void> {
    try {
      const bound = await this.#front.listen(host, port);
      this.#front.forwardTo(this.#socketPath);
      this.#send({ type: "listening", port: bound });
    } catch (error) {
      this.#send({ type: "listen-failed", error: toErrorInfo(error) });
    }
  }

  #watch(): void {
    const silentMs = performance.now() - this.#heard;
    if (silentMs > HANG_MS) this.#end(`it did one thing for ${Math.round(silentMs / 1_000)} seconds`);
    else this.#send({ type: "ping" });
  }

  #end(reason: string | undefined): void {
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

import { CemError } from "@cem/core";
import { request } from "undici";
import * as z from "zod/mini";

/** Default timeout of a request, in milliseconds. */
const QUICK_TIMEOUT_MS = 10_000;
/** The longest answer to read: more than two readings of a program's output take in base64. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Characters of an unexpected answer that its error message quotes. */
const TOLD_CHARACTERS = 300;

/** Address and key of an older microsandbox server. */
export interface ServerAddress {
  /** Base URL, as `msb server start` prints it: `http://127.0.0.1:5555`. */
  url: string;
  /** API key, as `msb server keygen` prints it. It is sent to that address only. */
  apiKey?: string | undefined;
}

const answerShape = z.object({
  result: z.optional(z.unknown()),
  // Protocol errors are objects, those of the HTTP layer are strings.
  error: z.optional(z.union([z.string(), z.object({ code: z.number(), message: z.string() })])),
});
const commandShape = z.object({
  exit_code: z.int(),
  output: z.array(z.object({ stream: z.enum(["stdout", "stderr"]), text: z.string() })),
});
const metricsShape = z.object({
  sandboxes: z.array(z.object({ namespace: z.string(), name: z.string(), running: z.boolean() })),
});

/** Result of a command in a machine. */
export interface CommandOutcome {
  exitCode: number;
  stdout: string[];
  stderr: string[];
}

/** Configuration of a machine: the part of the server's that is used here. */
export interface StartConfig {
  image: string;
  /** Memory in MiB. */
  memory: number;
  cpus: number;
  /** Mounts as `hostPath:guestPath`, on the server's host. */
  volumes: string[];
}

/** Identifies a machine on the server. */
export interface SandboxName {
  sandbox: string;
  namespace: string;
}

interface CallOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** JSON-RPC 2.0 client of a microsandbox server of 0.2 or older. Never retries, since commands are not idempotent. */
export class ServerRpc {
  readonly #origin: string;
  readonly #base: string;
  readonly #apiKey: string | undefined;
  #nextId = 1;
  #starting: Promise<unknown> = Promise.resolve();

  constructor({ url, apiKey }: ServerAddress) {
    let parsed: URL | undefined;
    if (URL.canParse(url)) parsed = new URL(url);
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== "") {
      throw new CemError(
        "SANDBOX_UNAVAILABLE",
        "The URL of the microsandbox server is not an HTTP URL such as http://127.0.0.1:5555.",
      );
    }
    this.#origin = parsed.origin;
    this.#base = `${parsed.origin}${parsed.pathname.replace(/(?<!\/)\/+$/, "")}/api/v1`;
    this.#apiKey = apiKey;
  }

  /** The server's origin, without path and credentials. */
  get origin(): string {
    return this.#origin;
  }

  /**
   * Checks that the server answers.
   *
   * @throws CemError `SANDBOX_SERVER_UNREACHABLE` or `SANDBOX_SERVER_FAILED`.
   */
  async health(signal?: AbortSignal): Promise<void> {
    const { status } = await this.#send("GET", "/health", undefined, { signal });
    if (status !== 200) throw this.#notTheServer(`GET /api/v1/health answered ${status}`);
  }

  /** Starts a machine; resolves when the server reports that it runs, or soon will. */
  async start(name: SandboxName, config: StartConfig, options: CallOptions): Promise<void> {
    // One at a time: the server rewrites one file per namespace without locking.
    const before = this.#starting;
    const started = before.then(() => this.#call("sandbox.start", { ...name, config }, options));
    this.#starting = started.catch(() => {});
    await started;
  }

  /** Stops a machine. */
  async stop(name: SandboxName): Promise<void> {
    await this.#call("sandbox.stop", { ...name }, {});
  }

  /** Runs a command; resolves with its output after its end. */
  async run(
    name: SandboxName,
    command: string,
    args: readonly string[],
    options: CallOptions,
  ): Promise<CommandOutcome> {
    const result = await this.#call("sandbox.command.run", { ...name, command, args }, options);
    const { exit_code: exitCode, output } = this.#read(commandShape, result, "sandbox.command.run");
    const of = (stream: string) => output.filter((line) => line.stream === stream).map(({ text }) => text);
    return { exitCode, stdout: of("stdout"), stderr: of("stderr") };
  }

  /** Lists the running machines of a namespace. */
  async running(namespace: string): Promise<string[]> {
    const result = await this.#call("sandbox.metrics.get", { namespace }, {});
    const { sandboxes } = this.#read(metricsShape, result, "sandbox.metrics.get");
    return sandboxes.filter((one) => one.running && one.namespace === namespace).map(({ name }) => name);
  }

  /** @throws CemError `SANDBOX_SERVER_REFUSED` when the server rejects the key. */
  async checkKey(namespace: string): Promise<void> {
    await this.running(namespace).catch((error: unknown) => {
      // Any other answer has passed the server's check of the key.
      if (!CemError.isInstance(error) || error.code !== "SANDBOX_SERVER_FAILED") throw error;
    });
  }

  async #call(method: string, params: object, options: CallOptions): Promise<unknown> {
    const id = this.#nextId;
    this.#nextId += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", method, params, id });
    const { status, text } = await this.#send("POST", "/rpc", body, options);
    if (status === 401 || status === 403) {
      const what = this.#apiKey === undefined ? "requires an API key" : "rejected the API key";
      throw new CemError(
        "SANDBOX_SERVER_REFUSED",
        `The microsandbox server at ${this.#origin} ${what} (${status}).`,
        {
          details: { origin: this.#origin, status },
        },
      );
    }
    const answer = this.#parse(text, `${method} (${status})`);
    if (answer.error !== undefined) {
      const said = typeof answer.error === "string" ? answer.error : answer.error.message;
      throw new CemError(
        "SANDBOX_SERVER_FAILED",
        `The microsandbox server at ${this.#origin} failed at ${method}: ${said}`,
        { details: { origin: this.#origin, method } },
      );
    }
    if (status !== 200) throw this.#notTheServer(`${method} answered ${status}`);
    return answer.result;
  }

  async #send(
    method: "GET" | "POST",
    path: string,
    body: string | undefined,
    { timeoutMs = QUICK_TIMEOUT_MS, signal }: CallOptions,
  ): Promise<{ status: number; text: string }> {
    const late = AbortSignal.timeout(timeoutMs);
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (this.#apiKey !== undefined) headers["authorization"] = `Bearer ${this.#apiKey}`;
    try {
      const answer = await request(this.#base + path, {
        method,
        headers,
        body: body ?? null,
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
        reset: true,
        // The server answers only when a command has ended.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of answer.body as AsyncIterable<Buffer>) {
        bytes += piece.length;
        // It holds what a machine's programs print, and a program that is root there may have replaced those.
        if (bytes > MAX_ANSWER_BYTES)
          throw this.#notTheServer(`${path} answered more than ${MAX_ANSWER_BYTES} bytes`);
        pieces.push(piece);
      }
      return { status: answer.statusCode, text: Buffer.concat(pieces).toString() };
    } catch (error) {
      if (signal?.aborted === true || CemError.isInstance(error)) throw error;
      const why = late.aborted
        ? `did not answer within ${timeoutMs} ms`
        : `can't be reached (${reasonOf(error)})`;
      throw new CemError("SANDBOX_SERVER_UNREACHABLE", `The microsandbox server at ${this.#origin} ${why}.`, {
        details: { origin: this.#origin },
        cause: error,
      });
    }
  }

  #parse(text: string, what: string): z.infer<typeof answerShape> {
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      throw this.#notTheServer(`${what} answered ${JSON.stringify(text.slice(0, TOLD_CHARACTERS))}`);
    }
    return this.#read(answerShape, parsed, what);
  }

  #read<Shape extends z.ZodMiniType>(shape: Shape, value: unknown, what: string): z.infer<Shape> {
    const checked = shape.safeParse(value);
    if (checked.success) return checked.data;
    throw this.#notTheServer(`${what} answered in another shape`);
  }

  #notTheServer(what: string): CemError {
    return new CemError(
      "SANDBOX_SERVER_FAILED",
      `${this.#origin} is not a microsandbox server of 0.2 or older: ${what}.`,
      { details: { origin: this.#origin } },
    );
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}

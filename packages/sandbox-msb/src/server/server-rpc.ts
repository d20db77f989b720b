import { CemError } from "@cem/core";
import * as z from "zod/mini";
import { sendRequest } from "./http-request.ts";

/** How long the server may take for what it does at once, in milliseconds. */
const QUICK_TIMEOUT_MS = 10_000;
/** Of an answer that is not the protocol's, so much is told. */
const TOLD_CHARACTERS = 300;

/** Where an older microsandbox server listens, and what it asks for. */
export interface ServerAddress {
  /** As `msb server start` says: `http://127.0.0.1:5555`. */
  url: string;
  /** As `msb server keygen` gave it. It goes to that address and nowhere else. */
  apiKey?: string | undefined;
}

const answerShape = z.object({
  result: z.optional(z.unknown()),
  // The protocol's own errors are objects, those of the HTTP layer texts.
  error: z.optional(z.union([z.string(), z.object({ code: z.number(), message: z.string() })])),
});
const commandShape = z.object({
  exit_code: z.int(),
  output: z.array(z.object({ stream: z.enum(["stdout", "stderr"]), text: z.string() })),
});
const metricsShape = z.object({
  sandboxes: z.array(z.object({ namespace: z.string(), name: z.string(), running: z.boolean() })),
});

/** What a command in a sandbox came to. */
export interface CommandOutcome {
  exitCode: number;
  stdout: string[];
  stderr: string[];
}

/** What a sandbox is started with; the server knows more, of which nothing is needed. */
export interface StartConfig {
  image: string;
  /** In MiB. */
  memory: number;
  cpus: number;
  /** `host:guest`, of the server's host. */
  volumes: string[];
}

/** A sandbox on the server. */
export interface SandboxName {
  sandbox: string;
  namespace: string;
}

interface CallOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

function fault(code: string, message: string, cause?: unknown): CemError {
  return new CemError(code, message, cause === undefined ? {} : { cause });
}

/**
 * Speaks to the server of microsandbox 0.2 and older: JSON-RPC 2.0 by HTTP. Nothing is ever sent twice: a command that was
 * run is run.
 */
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
      throw fault(
        "SANDBOX_UNAVAILABLE",
        "execution.msb_server_url is not the address of a server, such as http://127.0.0.1:5555.",
      );
    }
    this.#origin = parsed.origin;
    this.#base = `${parsed.origin}${parsed.pathname.replace(/\/+$/, "")}/api/v1`;
    this.#apiKey = apiKey;
  }

  /** The address without what could be secret in it. */
  get origin(): string {
    return this.#origin;
  }

  /** Resolves when something answers there as the server does. */
  async health(signal?: AbortSignal): Promise<void> {
    const { status } = await this.#send("GET", "/health", undefined, { signal });
    if (status !== 200) throw this.#notTheServer(`GET /api/v1/health answered ${status}`);
  }

  /** Starts a sandbox; resolves when the server says that it runs, or may soon. */
  async start(name: SandboxName, config: StartConfig, options: CallOptions): Promise<void> {
    // The server reads, changes and writes one file for each namespace, and looks at nobody else's change of it.
    const before = this.#starting;
    const started = before.then(() => this.#call("sandbox.start", { ...name, config }, options));
    this.#starting = started.catch(() => {});
    await started;
  }

  async stop(name: SandboxName): Promise<void> {
    await this.#call("sandbox.stop", { ...name }, {});
  }

  /** Runs a command to its end. Its output comes as lines, at once, when it has ended. */
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

  /** The sandboxes of a namespace that run. */
  async running(namespace: string): Promise<string[]> {
    const result = await this.#call("sandbox.metrics.get", { namespace }, {});
    const { sandboxes } = this.#read(metricsShape, result, "sandbox.metrics.get");
    return sandboxes.filter((one) => one.running && one.namespace === namespace).map(({ name }) => name);
  }

  /** @throws CemError `SANDBOX_SERVER_REFUSED` when the server does not take the key. */
  async checkKey(namespace: string): Promise<void> {
    await this.running(namespace).catch((error: unknown) => {
      // Any other answer came past the check of the key.
      if (!CemError.isInstance(error) || error.code !== "SANDBOX_SERVER_FAILED") throw error;
    });
  }

  async #call(method: string, params: object, options: CallOptions): Promise<unknown> {
    const id = this.#nextId;
    this.#nextId += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", method, params, id });
    const { status, text } = await this.#send("POST", "/rpc", body, options);
    if (status === 401 || status === 403) {
      const what = this.#apiKey === undefined ? "asks for a key" : "does not take the key";
      throw fault(
        "SANDBOX_SERVER_REFUSED",
        `The microsandbox server at ${this.#origin} ${what} (${status}). Set execution.msb_api_key (MSB_API_KEY) to one that \`msb server keygen\` gave, or start the server with --dev.`,
      );
    }
    const answer = this.#parse(text, `${method} (${status})`);
    if (answer.error !== undefined) {
      const said = typeof answer.error === "string" ? answer.error : answer.error.message;
      throw fault(
        "SANDBOX_SERVER_FAILED",
        `The microsandbox server at ${this.#origin} could not do ${method}: ${said}`,
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
      return await sendRequest(this.#base + path, {
        method,
        headers,
        body,
        signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      const why = late.aborted
        ? `did not answer within ${timeoutMs} ms`
        : `can't be reached (${reasonOf(error)})`;
      throw fault(
        "SANDBOX_SERVER_UNREACHABLE",
        `The microsandbox server at ${this.#origin} ${why}. Start it with \`msb server start\`, or correct execution.msb_server_url.`,
        error,
      );
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
    return fault(
      "SANDBOX_SERVER_FAILED",
      `What answers at ${this.#origin} is not a microsandbox server of 0.2 or older: ${what}.`,
    );
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}

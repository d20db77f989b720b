import { CemError, createTurns, parseJson } from "@cem/core";
import { request } from "undici";
import * as z from "zod/mini";

const NAMESPACE = "cem";
const QUICK_TIMEOUT_MS = 10_000;
/** The longest answer to accept: more than two reads of a program's output in base64. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
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

export interface CommandOutcome {
  exitCode: number;
  stdout: string[];
  stderr: string[];
}

/** Configuration of a machine: the part of the server's that is used here. */
export interface StartConfig {
  image: string;
  memory: number;
  cpus: number;
  /** Mounts as `hostPath:guestPath`, on the server's host. */
  volumes: string[];
}

interface CallOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** A JSON-RPC 2.0 client of a microsandbox server of 0.2 or older. It never retries: commands are not idempotent. */
export function createServerRpc({ url, apiKey }: ServerAddress) {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== "")
    throw new CemError(
      "SANDBOX_UNAVAILABLE",
      "The URL of the microsandbox server is not an HTTP URL such as http://127.0.0.1:5555.",
    );
  const { origin, pathname } = parsed;
  const base = `${origin}${pathname.replace(/(?<!\/)\/+$/, "")}/api/v1`;
  /** Serializes starts: the server rewrites one file per namespace without locking. */
  const inTurn = createTurns();
  let lastId = 0;

  const notTheServer = (what: string): CemError =>
    new CemError(
      "SANDBOX_SERVER_FAILED",
      `${origin} is not a microsandbox server of 0.2 or older: ${what}.`,
      { details: { origin } },
    );

  async function call(method: string, params: object, options: CallOptions = {}): Promise<unknown> {
    lastId += 1;
    const named = { namespace: NAMESPACE, ...params };
    const body = JSON.stringify({ jsonrpc: "2.0", method, params: named, id: lastId });
    const { status, text } = await send("POST", "/rpc", body, options);
    if (status === 401 || status === 403) {
      const what = apiKey === undefined ? "requires an API key" : "rejected the API key";
      throw new CemError(
        "SANDBOX_SERVER_REFUSED",
        `The microsandbox server at ${origin} ${what} (${status}).`,
        { details: { origin, status } },
      );
    }
    const json = parseJson(text);
    if (json === undefined)
      throw notTheServer(`${method} (${status}) answered ${JSON.stringify(text.slice(0, TOLD_CHARACTERS))}`);
    const answer = read(answerShape, json, `${method} (${status})`);
    if (answer.error !== undefined) {
      const said = typeof answer.error === "string" ? answer.error : answer.error.message;
      throw new CemError(
        "SANDBOX_SERVER_FAILED",
        `The microsandbox server at ${origin} failed at ${method}: ${said}`,
        { details: { origin, method } },
      );
    }
    if (status !== 200) throw notTheServer(`${method} answered ${status}`);
    return answer.result;
  }

  async function send(
    method: "GET" | "POST",
    path: string,
    body: string | undefined,
    { timeoutMs = QUICK_TIMEOUT_MS, signal }: CallOptions,
  ): Promise<{ status: number; text: string }> {
    const late = AbortSignal.timeout(timeoutMs);
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (apiKey !== undefined) headers["authorization"] = `Bearer ${apiKey}`;
    try {
      const answer = await request(base + path, {
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
        // It contains output of the machine's commands, which a program with root access there may have replaced.
        if (bytes > MAX_ANSWER_BYTES)
          throw notTheServer(`${path} answered more than ${MAX_ANSWER_BYTES} bytes`);
        pieces.push(piece);
      }
      return { status: answer.statusCode, text: Buffer.concat(pieces).toString() };
    } catch (error) {
      if (signal?.aborted === true || CemError.isInstance(error)) throw error;
      const why = late.aborted
        ? `did not answer within ${timeoutMs} ms`
        : `can't be reached (${reasonOf(error)})`;
      throw new CemError("SANDBOX_SERVER_UNREACHABLE", `The microsandbox server at ${origin} ${why}.`, {
        details: { origin },
        cause: error,
      });
    }
  }

  function read<Shape extends z.ZodMiniType>(shape: Shape, value: unknown, what: string): z.infer<Shape> {
    const checked = shape.safeParse(value);
    if (checked.success) return checked.data;
    throw notTheServer(`${what} answered in another shape`);
  }

  async function running(): Promise<string[]> {
    const result = await call("sandbox.metrics.get", {});
    const { sandboxes } = read(metricsShape, result, "sandbox.metrics.get");
    return sandboxes.filter((one) => one.running && one.namespace === NAMESPACE).map(({ name }) => name);
  }

  return {
    origin,
    running,
    /** Checks that the server answers and accepts the key, without changing anything. */
    async check(signal?: AbortSignal): Promise<void> {
      const { status } = await send("GET", "/health", undefined, { signal });
      if (status !== 200) throw notTheServer(`GET /api/v1/health answered ${status}`);
      await running().catch((error: unknown) => {
        // Any other answer has passed the server's check of the key.
        if (!CemError.isInstance(error) || error.code !== "SANDBOX_SERVER_FAILED") throw error;
      });
    },
    /** Starts a machine; resolves when the server reports that it runs, or soon will. */
    async start(sandbox: string, config: StartConfig, options: CallOptions): Promise<void> {
      await inTurn(() => call("sandbox.start", { sandbox, config }, options));
    },
    async stop(sandbox: string): Promise<void> {
      await call("sandbox.stop", { sandbox });
    },
    async run(sandbox: string, command: string, args: readonly string[], options: CallOptions) {
      const result = await call("sandbox.command.run", { sandbox, command, args }, options);
      const { exit_code: exitCode, output } = read(commandShape, result, "sandbox.command.run");
      const of = (stream: string) => output.filter((line) => line.stream === stream).map(({ text }) => text);
      return { exitCode, stdout: of("stdout"), stderr: of("stderr") };
    },
  };
}

export type ServerRpc = ReturnType<typeof createServerRpc>;

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}

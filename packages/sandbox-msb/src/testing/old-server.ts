import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { findGuestRuntime } from "../guest-runtime.ts";

/** How the test server differs from a healthy `msb server start`. */
export interface OldServerOptions {
  /** The key it requires; absent: none, as with `--dev`. */
  apiKey?: string | undefined;
  /** Whether its images have Deno.  @defaultValue true */
  hasDeno?: boolean | undefined;
  /** Loses the last lines of every other command, as the real one may. */
  losesOutput?: boolean | undefined;
  /** The command that reads a program's output prints more than any program did. */
  floods?: boolean | undefined;
  /** Mounts nothing of this host. */
  elsewhere?: boolean | undefined;
}

interface StartedSandbox {
  root: string;
  volumes: string[];
  groups: Set<number>;
}

interface Line {
  stream: "stdout" | "stderr";
  text: string;
}

const SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/hosts",
  "/etc/resolv.conf",
  "/etc/nsswitch.conf",
];
/** In place of a machine's memory limit; V8 needs about this much address space. */
const DATA_BYTES = 1024 * 1024 * 1024;
/** Absolute, since commands are started with a `PATH` of their own. */
const BUBBLEWRAP: string = spawnSync("sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).stdout.trim();
const FLOOD_BYTES = 17 * 1024 * 1024;
const WRITABLE = ["tmp", "var", "cem"];

/**
 * A test server with the protocol of `msb server` 0.2. It runs each machine's commands as processes with their own root
 * folder. Names, shapes and statuses follow the server's published source.
 */
export class OldServer {
  readonly requests: {
    method: string;
    params: Record<string, unknown>;
    authorization: string | undefined;
  }[] = [];
  readonly sandboxes = new Map<string, StartedSandbox>();
  readonly #options: OldServerOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), "cem-old-server-"));
  readonly #server: Server;
  #commands = 0;

  constructor(options: OldServerOptions = {}) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async close(): Promise<void> {
    for (const key of this.sandboxes.keys()) this.crash(key);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Kills a machine without telling the client. */
  crash(key: string): void {
    const sandbox = this.sandboxes.get(key);
    this.sandboxes.delete(key);
    for (const group of sandbox?.groups ?? []) {
      try {
        process.kill(-group, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url === "/api/v1/health") return answer(200, { message: "Service is healthy" });
    if (request.url !== "/api/v1/rpc" || request.method !== "POST") return answer(404, {});
    const { authorization } = request.headers;
    const body = await text(request);
    if (this.#options.apiKey !== undefined && authorization !== `Bearer ${this.#options.apiKey}`)
      return answer(401, { error: "Invalid credentials", code: 1001 });
    const { jsonrpc, method, params, id } = JSON.parse(body) as {
      jsonrpc: string;
      method: string;
      params: Record<string, unknown>;
      id: number;
    };
    this.requests.push({ method, params, authorization });
    if (jsonrpc !== "2.0")
      return answer(400, { jsonrpc: "2.0", error: { code: -32600, message: "Invalid" }, id });
    try {
      const result = await this.#do(method, params);
      answer(200, { jsonrpc: "2.0", result, id });
    } catch (error) {
      // As an internal error of the server, which does not have the protocol's shape.
      answer(500, { error: error instanceof Error ? error.message : "Internal server error", code: 5002 });
    }
  }

  async #do(method: string, params: Record<string, unknown>): Promise<unknown> {
    const key = `${String(params["namespace"])}/${String(params["sandbox"])}`;
    switch (method) {
      case "sandbox.start":
        return this.#start(key, params["config"] as { volumes?: string[] | undefined });
      case "sandbox.stop":
        if (!this.sandboxes.has(key)) throw new Error("Internal server error");
        this.crash(key);
        return `Sandbox ${String(params["sandbox"])} stopped successfully`;
      case "sandbox.metrics.get":
        return this.#metrics(String(params["namespace"]));
      case "sandbox.command.run":
        return this.#command(key, String(params["command"]), params["args"] as string[]);
      default:
        throw new Error(`Method not found: ${method}`);
    }
  }

  #start(key: string, { volumes = [] }: { volumes?: string[] | undefined }): string {
    const root = join(this.#folder, key.replace("/", "-"));
    for (const name of WRITABLE) mkdirSync(join(root, name), { recursive: true });
    mkdirSync(join(root, "var/tmp"));
    this.sandboxes.set(key, { root, volumes, groups: new Set() });
    return `Sandbox ${key} started successfully`;
  }

  #metrics(namespace: string): object {
    if (this.sandboxes.size === 0) throw new Error("Internal server error");
    const sandboxes = [...this.sandboxes.keys()]
      .map((key) => key.split("/"))
      .filter(([own]) => own === namespace)
      .map(([own, name]) => ({
        namespace: own,
        name,
        running: true,
        cpu_usage: 0,
        memory_usage: 0,
        disk_usage: 0,
      }));
    return { sandboxes };
  }

  async #command(key: string, command: string, args: string[]): Promise<object> {
    const sandbox = this.sandboxes.get(key);
    if (sandbox === undefined) throw new Error("Internal server error");
    const limited = ["prlimit", `--data=${DATA_BYTES}`, command, ...args];
    const child = spawn(BUBBLEWRAP, [...this.#rootOf(sandbox), ...limited], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: "/opt/bin:/usr/bin:/bin" },
    });
    if (child.pid !== undefined) sandbox.groups.add(child.pid);
    const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
    const [out, err, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (!this.sandboxes.has(key)) throw new Error("Internal server error");
    this.#commands += 1;
    const kept = this.#options.losesOutput === true && this.#commands % 2 === 0 ? -1 : undefined;
    if (this.#options.floods === true && args.join(" ").includes("tail -c"))
      return { exit_code: 0, output: [{ stream: "stdout", text: "x".repeat(FLOOD_BYTES) }] };
    const output = [...linesOf("stdout", out).slice(0, kept), ...linesOf("stderr", err)];
    return { command, args, exit_code: exitCode, success: exitCode === 0, output };
  }

  #rootOf({ root, volumes }: StartedSandbox): string[] {
    const { hasDeno = true, elsewhere = false } = this.#options;
    const mounted = elsewhere ? [] : volumes;
    return [
      "--dev-bind",
      "/dev",
      "/dev",
      ...["/proc", ...SYSTEM].flatMap((path) => ["--ro-bind-try", path, path]),
      ...WRITABLE.flatMap((name) => ["--bind", join(root, name), `/${name}`]),
      ...(hasDeno ? ["--ro-bind", dirname(findGuestRuntime().denoFile), "/opt/bin"] : []),
      ...mounted.flatMap((pair) => ["--bind", ...pair.split(":")]),
    ];
  }
}

function linesOf(stream: Line["stream"], output: string): Line[] {
  const lines = output.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => ({ stream, text: line }));
}

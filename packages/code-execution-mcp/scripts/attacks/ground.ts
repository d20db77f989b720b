import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { JsonValue, SandboxProvider } from "@cem/core";
import { createAgent, defineTool } from "../../src/index.ts";
import type { Agent } from "../../src/index.ts";
import type { Target } from "./attack.ts";

const VARIABLE = "CEM_ATTACK_TOKEN";
const FREE = { type: "object", additionalProperties: true };
const LIMITS = { maxExecutionTime: 8, maxMemoryMb: 256 };

/** A folder with canaries in all forbidden places, a listener, and agents whose tools note what reaches them. */
export class Ground {
  readonly target: Target;
  readonly canaries: readonly string[];
  /** Connections that reached this host. */
  connections = 0;
  /** Arguments of tools that could send them on, or that were never granted. */
  readonly sent: JsonValue[] = [];
  readonly log: string[] = [];
  cancelled = false;
  readonly agents: Readonly<Record<"alone" | "guards", Agent>>;
  readonly #folder: string;

  private constructor(
    folder: string,
    target: Target,
    canaries: readonly string[],
    provider: SandboxProvider,
  ) {
    this.#folder = folder;
    this.target = target;
    this.canaries = canaries;
    this.agents = { alone: this.#agent(provider, false), guards: this.#agent(provider, true) };
  }

  /** Lays out a ground for a sandbox of this provider. */
  static async open(provider: SandboxProvider): Promise<Ground> {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), "cem-attacks-")));
    const secret = `tok_${randomBytes(12).toString("hex")}`;
    process.env[VARIABLE] = secret;
    const canaries = [secret];
    const plant = async (file: string, wrap = (text: string) => text): Promise<void> => {
      const canary = `canary${randomBytes(9).toString("hex")}`;
      canaries.push(canary);
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), wrap(canary));
    };
    for (const file of [
      "outside/secret.txt",
      "workspace-evil/secret.txt",
      "records/cem.log",
      "records/audit.jsonl",
    ])
      await plant(file);
    await plant("outside/secret.json", (canary) => JSON.stringify({ canary }));
    for (const file of [".ssh/id_rsa", ".aws/credentials", ".npmrc", ".config/token"])
      await plant(`home/${file}`);
    await mkdir(path.join(folder, "workspace"));
    const at = (name: string): string => path.join(folder, name);
    const target: Target = {
      outside: at("outside"),
      sibling: at("workspace-evil"),
      home: at("home"),
      records: at("records"),
      workspace: at("workspace"),
      port: 0,
      socket: at("s.sock"),
      variable: VARIABLE,
      secret,
      pid: process.pid,
    };
    const ground = new Ground(folder, target, canaries, provider);
    await ground.#listen();
    return ground;
  }

  async #listen(): Promise<void> {
    const [network, socket] = [0, 1].map(() =>
      createServer((connection) => {
        this.connections += 1;
        connection.destroy();
      }),
    ) as [Server, Server];
    await new Promise<void>((done) => network.listen(0, "0.0.0.0", done));
    await new Promise<void>((done) => socket.listen(this.target.socket, done));
    Object.assign(this.target, { port: (network.address() as AddressInfo).port });
    this.#close = async () => {
      network.close();
      socket.close();
    };
  }

  #close: () => Promise<void> = async () => {};

  #agent(sandboxProvider: SandboxProvider, guarded: boolean): Agent {
    const note = (answer: JsonValue) => (args: JsonValue) => {
      this.sent.push(args);
      return answer;
    };
    return createAgent({
      cwd: this.#folder,
      configFile: false,
      sandboxProvider,
      config: {
        execution: {
          workspaceDir: this.target.workspace,
          serversDir: path.join(this.#folder, "no-servers"),
          skillsDir: path.join(this.#folder, "no-skills"),
          typeCheck: "off",
        },
        guardrails: {
          enabled: guarded,
          piiDetection: false,
          blockedTools: ["crm.denied"],
          ...LIMITS,
        },
        optimizations: { toolCache: false },
        logging: { level: "DEBUG" },
      },
      onLog: (line) => this.log.push(line),
      tools: {
        crm: {
          echo: defineTool({
            description: "Gives back.",
            input: FREE,
            annotations: { readOnlyHint: true },
            execute: (args) => args,
          }),
          give: defineTool({
            description: "Gives a text.",
            input: FREE,
            execute: () => ({ text: this.target.secret }),
          }),
          denied: defineTool({ description: "Not granted.", input: FREE, execute: note("denied") }),
          remove: defineTool({
            description: "Removes.",
            input: FREE,
            annotations: { destructiveHint: true },
            execute: note("removed"),
          }),
          hold: defineTool({
            description: "Never answers.",
            input: FREE,
            execute: (_, { signal }) =>
              new Promise((_resolve, reject) => {
                signal.addEventListener("abort", () => {
                  this.cancelled = true;
                  reject(signal.reason as Error);
                });
              }),
          }),
        },
        web: { send: defineTool({ description: "Sends.", input: FREE, execute: note("sent") }) },
      },
    });
  }

  /** The contents of the forbidden places, to detect changes. */
  async snapshot(): Promise<string> {
    const lines: string[] = [];
    for (const name of ["outside", "workspace-evil", "home", "records", "."]) {
      const recursive = name !== ".";
      for (const entry of await readdir(path.join(this.#folder, name), { recursive, withFileTypes: true })) {
        const file = path.join(entry.parentPath, entry.name);
        const { nlink, mode } = await stat(file);
        lines.push(entry.isFile() ? `${file} ${nlink} ${mode} ${await readFile(file, "utf8")}` : file);
      }
    }
    return lines.toSorted().join("\n");
  }

  /** Empties the workspace, so that one attack does not meet the leftovers of another. */
  async clear(): Promise<void> {
    for (const name of await readdir(this.target.workspace))
      if (!["servers", "client", "skills"].includes(name))
        await removeTree(path.join(this.target.workspace, name));
    this.sent.length = 0;
    this.log.length = 0;
    this.cancelled = false;
    this.connections = 0;
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.agents).map((agent) => agent.dispose()));
    await this.#close();
    delete process.env[VARIABLE];
    await removeTree(this.#folder);
  }
}

/** Removes also folders that are nested more deeply than a path can be long, which Node's own function can't. */
async function removeTree(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENAMETOOLONG") throw error;
    await promisify(execFile)("rm", ["-rf", "--", folder]);
  });
}

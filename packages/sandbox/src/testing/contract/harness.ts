import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type {
  JsonValue,
  Mount,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxProvider,
  SandboxSpec,
  ToolCall,
  ToolInvoker,
  ToolResult,
} from "@cem/core";
import { abandonOnAbort, callAborted, toErrorInfo } from "@cem/core";

/** Limits that keep the contract's runs short. */
export const CONTRACT_LIMITS = { timeoutMs: 20_000, memoryMb: 128 } as const;

/**
 * `programs`: the environment and results of programs. `guest`: isolation, and the lifecycle of a sandbox. `realms`:
 * what runs share.
 */
export type ContractGroup = "programs" | "guest" | "realms";

/** Capabilities of a provider, which select the contract tests. */
export interface ContractOptions {
  /** The isolation level that the provider has to report. */
  level: string;
  /**
   * Whether the provider supports mounts.
   *
   * @defaultValue true
   */
  mounts?: boolean | undefined;
  /**
   * Whether the provider can allow single hosts of this machine's network.
   *
   * @defaultValue true
   */
  network?: boolean | undefined;
  /**
   * The tests to describe, so that two files can share them.
   *
   * @defaultValue all
   */
  groups?: readonly ContractGroup[] | undefined;
}

/** Options of a run besides its code. */
export type RunOptions = Omit<RunRequest, "code">;

const TOOL_FOLDER = /^(?:servers|skills)\//;

/** A temporary workspace with a sandbox, for the contract's tests. */
export class Harness {
  readonly folder: string;
  readonly workspace: string;
  readonly sandbox: Sandbox;

  constructor(folder: string, workspace: string, sandbox: Sandbox) {
    this.folder = folder;
    this.workspace = workspace;
    this.sandbox = sandbox;
  }

  /** Creates a workspace with these files; `servers` and `skills` become mounts that no program can change. */
  static async make(
    provider: SandboxProvider,
    files: Record<string, string> = {},
    spec: Partial<SandboxSpec> | ((folder: string) => Partial<SandboxSpec>) = {},
  ): Promise<Harness> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "cem-contract-")));
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    const isTool = (name: string) => TOOL_FOLDER.test(name);
    const [tools = {}, others = {}] = [true, false].map((wanted) =>
      Object.fromEntries(Object.entries(files).filter(([name]) => isTool(name) === wanted)),
    );
    writeFiles(workspace, others);
    writeFiles(join(folder, "tools"), tools);
    const { mounts = [], ...more } = typeof spec === "function" ? spec(folder) : spec;
    const kinds = new Set(Object.keys(tools).map((name) => name.split("/")[0] ?? ""));
    const own = [...kinds].map((kind): Mount => ({
      hostPath: join(folder, "tools", kind),
      guestPath: `/workspace/${kind}`,
      readOnly: true,
    }));
    try {
      const sandbox = await provider.create({
        workspaceDir: workspace,
        limits: CONTRACT_LIMITS,
        mounts: [...own, ...mounts],
        ...more,
      });
      return new Harness(folder, workspace, sandbox);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  run(code: string, options: RunOptions = {}): Promise<RunOutcome> {
    return this.sandbox.run({ code, ...options });
  }

  /** Runs code that has to complete; resolves with its value. */
  async value(code: string, options: RunOptions = {}): Promise<JsonValue | undefined> {
    const outcome = await this.run(code, options);
    if (outcome.status === "completed") return outcome.value;
    const { isolation, ...told } = outcome;
    throw new Error(`The program had to complete at level ${isolation.level}: ${JSON.stringify(told)}`);
  }

  /** Fails unless the next run completes. */
  async mustStillWork(): Promise<void> {
    const value = await this.value("export default 6 * 7");
    if (value !== 42) throw new Error(`The next run gave ${JSON.stringify(value)} instead of 42.`);
  }

  async dispose(): Promise<void> {
    await this.sandbox.dispose().finally(() => rmSync(this.folder, { recursive: true, force: true }));
  }
}

/** Resolves as soon as a condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** An invoker that answers with a function until the run ends, and remembers the calls. */
export function recordingInvoker(
  answer: (call: ToolCall, signal: AbortSignal) => JsonValue | Promise<JsonValue>,
): ToolInvoker & { calls: ToolCall[] } {
  const calls: ToolCall[] = [];
  return {
    specificationVersion: "v1",
    calls,
    async invoke(call, { signal }): Promise<ToolResult> {
      calls.push(call);
      const ended = Promise.resolve(answer(call, signal)).then((value): ToolResult => ({ ok: true, value }));
      return abandonOnAbort(ended, signal).catch((error: unknown) => ({
        ok: false,
        error: toErrorInfo(signal.aborted ? callAborted(call) : error),
      }));
    },
  };
}

/** Files of a server whose tools run in the guest, and of one whose tools run on the host. */
export const TOOL_FILES: Record<string, string> = {
  "servers/calculator/index.ts": `export async function add({ a, b }: { a: number; b: number }): Promise<number> {
  return a + b;
}
export async function divide({ a, b }: { a: number; b: number }): Promise<number> {
  if (b === 0) throw new RangeError("division by zero");
  return a / b;
}
export const version = "1.0";
`,
  "servers/plain/index.mjs": `export { size } from "./size.js";
export async function refuse() { throw { code: 7 }; }
`,
  "servers/plain/size.js": `export const size = async (text) => text.length;
`,
  "servers/lacking/index.ts": `export { parse } from "zod";
`,
  "servers/host/index.ts": `import { callTool } from "../../client/index.ts";
export async function echo(input: unknown): Promise<any> {
  return callTool("host", "echo", input);
}
export async function fail(): Promise<any> {
  return callTool("host", "fail", {});
}
`,
  "servers/made/index.ts": `// @generated by @cem/tool-files
export { greet } from "./greet.ts";
export { shout } from "./shout.ts";
`,
  "servers/made/greet.ts": `// @generated by @cem/tool-files
import { callTool } from "../../client/index.ts";

export interface GreetInput {
  name?: string;
}

/** Greets: "see" { callTool("other", "tool", input); } // there. */
export async function greet(input: GreetInput = {}): Promise<unknown> {
  return callTool<unknown>("made", "greet.v2", input);
}
`,
  "servers/made/shout.ts": `import { callTool } from "../../client/index.ts";
export async function shout(input: object): Promise<any> {
  return callTool("made", "shout", { ...input, loud: true });
}
`,
  "servers/My-Server/tools.lock.json": JSON.stringify({ server: { name: "My Server!" } }),
  "servers/My-Server/index.ts": `export { ping } from "./ping.ts";`,
  "servers/My-Server/ping.ts": `import { callTool } from "../../client/index.ts";
export async function ping(input: object): Promise<any> {
  return callTool("My Server!", "ping", input);
}
`,
  "skills/double_number/index.ts": `import { add } from "../../servers/calculator/index.ts";
export function double(value: number): number {
  return value * 2;
}
export async function addTwice(value: number): Promise<number> {
  return add({ a: value, b: value });
}
`,
};

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunOutcome, RunRequest, ToolInvoker } from "@cem/core";
import type { GuestSandbox } from "@cem/sandbox";
import { listMachines } from "@cem/sandbox-msb";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { machineProcesses, until } from "./machine-processes.ts";
import { machinesHome, makeProvider } from "./provider.ts";

const invoker: ToolInvoker = {
  specificationVersion: "v1",
  invoke: async ({ args }) => ({ ok: true, value: { echo: args } }),
};
/** Little memory, since each page takes its time where the processor is emulated. */
const LIMITS = { memoryMb: 32, timeoutMs: 120_000 };
const UP = "console.log('up'); await new Promise((go) => setTimeout(go, 600_000));";

describe("microVMs of microsandbox", () => {
  let folder = "";
  let workspaceDir = "";
  const sandboxes: GuestSandbox[] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cem-microvm-"));
    workspaceDir = join(folder, "workspace");
    mkdirSync(join(workspaceDir, "servers/counter"), { recursive: true });
    writeFileSync(join(folder, "secret.txt"), "canary");
    writeFileSync(
      join(workspaceDir, "servers/counter/index.ts"),
      "let calls = 0;\nexport async function count(_: object) { return ++calls; }\n",
    );
  });
  afterEach(() => Promise.all(sandboxes.splice(0).map((sandbox) => sandbox.dispose())));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const open = async (settings: Parameters<typeof makeProvider>[0] = {}) => {
    const sandbox = await makeProvider(settings).create({ workspaceDir, limits: LIMITS });
    sandboxes.push(sandbox);
    return sandbox;
  };

  it("are found to work by booting one, and that is remembered", async () => {
    const started = performance.now();
    expect(await makeProvider().probe()).toMatchObject({ available: true, isolation: { level: "microvm" } });
    const first = performance.now() - started;
    expect(await makeProvider().probe()).toMatchObject({ available: true, version: "0.6.18" });
    expect(performance.now() - started - first).toBeLessThan(first);
  });

  describe("one after another", () => {
    const session = "one";
    const run = (code: string, more: Partial<RunRequest> = {}): Promise<RunOutcome> =>
      sandbox.run({ code, session, ...more });
    let sandbox: GuestSandbox;
    beforeAll(async () => {
      sandbox = await makeProvider({ reuse: "session" }).create({ workspaceDir, limits: LIMITS });
    });
    afterAll(() => sandbox?.dispose());

    it("run a session's programs with tools of files and of the host, and hold them", async () => {
      const code = `import { count } from "./servers/counter/index.ts";
import { callTool } from "cem:client";
console.log("printed");
Deno.writeTextFileSync("/workspace/made.txt", "made");
const refused = [() => Deno.readTextFileSync(${JSON.stringify(join(folder, "secret.txt"))}), () => Deno.readTextFileSync("/etc/passwd"),
  () => Deno.writeTextFileSync("/etc/made", "x"), () => new Deno.Command("/bin/true").outputSync()].map((way) => { try { way(); return "done"; } catch { return "refused"; } });
let network = "reached";
try { await fetch("http://1.1.1.1/"); } catch { network = "refused"; }
return { count: await count({}), host: await callTool("h", "t", { a: 1 }), user: Deno.uid(), refused, network };`;
      const expected = {
        status: "completed",
        output: "printed\n",
        value: {
          count: 1,
          host: { echo: { a: 1 } },
          user: 1000,
          refused: ["refused", "refused", "refused", "refused"],
          network: "refused",
        },
      };
      expect(await run(code, { invoker })).toMatchObject(expected);
      expect(readFileSync(join(workspaceDir, "made.txt"), "utf8")).toBe("made");
      expect(existsSync("/etc/made")).toBe(false);
      expect(await run(code, { invoker })).toMatchObject(expected);
      expect(sandbox.stats()).toMatchObject({ started: 1, reused: 1 });
    });

    // Each of these costs the session its machine, and the next run finds another that is as new.
    const isNew = async () => {
      const before = sandbox.stats().started;
      const code = `const was = globalThis.mark ?? "new"; globalThis.mark = "left"; return was;`;
      expect(await run(code)).toMatchObject({ value: "new" });
      expect(sandbox.stats().started).toBe(before + 1);
    };

    it("end for what fills their memory", async () => {
      const bomb = "const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));";
      expect(await run(bomb)).toMatchObject({ status: "out-of-memory", limitMb: LIMITS.memoryMb });
      await isNew();
    });

    it("end for what fills the disk", async () => {
      const flood = `const piece = new Uint8Array(1 << 20);
for (let i = 0; ; i++) Deno.writeFileSync("fill-" + (i % 2), piece, { append: i % 8 > 1 });`;
      const outcome = await run(flood, { limits: { writeMb: 16 } });
      expect(outcome).toMatchObject({ status: "killed", reason: "write-limit" });
      await isNew();
    });

    it("crash alone when they are killed from outside, and leave no process behind", async () => {
      const onOutput = () => machineProcesses().forEach((pid) => process.kill(pid, "SIGKILL"));
      expect(await run(UP, { onOutput })).toMatchObject({ status: "killed", reason: "crashed" });
      await sandbox.dispose();
      await until(() => machineProcesses().length === 0);
    });
  });

  describe("of several hosts on one machine", () => {
    const others: ChildProcess[] = [];
    afterEach(() => others.splice(0).forEach((other) => other.kill("SIGKILL")));

    /** Another process with a run of its own under way. */
    const startOther = async (): Promise<ChildProcess> => {
      const script = `import { makeProvider } from ${JSON.stringify(new URL("./provider.mjs", import.meta.url).href)};
const sandbox = await makeProvider().create({ workspaceDir: ${JSON.stringify(workspaceDir)}, limits: ${JSON.stringify(LIMITS)} });
await sandbox.run({ code: ${JSON.stringify(UP)}, onOutput: () => console.log("up") });`;
      const host = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      others.push(host);
      await Promise.race([
        new Promise((resolve) => host.stdout?.once("data", resolve)),
        new Promise((_, reject) => host.once("exit", (code) => reject(new Error(`It ended: ${code}`)))),
      ]);
      return host;
    };
    const owners = async (): Promise<string[]> => {
      const found = await listMachines(machinesHome);
      return found.map(({ host }) => host?.split("-")[0] ?? "").toSorted();
    };

    const killed = async (other: ChildProcess): Promise<void> => {
      const exited = new Promise((resolve) => other.once("exit", resolve));
      other.kill("SIGKILL");
      await exited;
    };
    const openAndRun = async () => {
      const sandbox = await open({ reuse: "session" });
      const run = () => sandbox.run({ code: "export default 42", session: "one" });
      expect(await run()).toMatchObject({ value: 42 });
      return { sandbox, run };
    };

    it("live beside each other", async () => {
      const other = await startOther();
      const { run } = await openAndRun();
      expect(await owners()).toEqual([String(process.pid), String(other.pid)].toSorted());
      await killed(other);
      await open({ reuse: "session" });
      expect(await owners()).toEqual([String(process.pid)]);
      expect(await run()).toMatchObject({ value: 42 });
    });

    it("are removed by the next host when theirs was killed; and a run that is aborted ends", async () => {
      await killed(await startOther());
      const { sandbox } = await openAndRun();
      expect(await owners()).toEqual([String(process.pid)]);
      const abort = new AbortController();
      const endless = { code: "console.log('up'); while (true) {}", onOutput: () => abort.abort() };
      const aborted = await sandbox.run({ ...endless, session: "one", signal: abort.signal });
      expect(aborted).toMatchObject({ status: "killed", reason: "aborted" });
    });
  });
});

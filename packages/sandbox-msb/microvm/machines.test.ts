import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunOutcome, ToolInvoker } from "@cem/core";
import type { GuestSandbox } from "@cem/sandbox";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeProvider } from "./provider.ts";

const invoker: ToolInvoker = {
  specificationVersion: "v1",
  invoke: async ({ args }) => ({ ok: true, value: { echo: args } }),
};
const LIMITS = { memoryMb: 256, timeoutMs: 120_000 };

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
  /** Whichever thread started them. */
  const machineProcesses = (): number[] =>
    readdirSync("/proc/self/task").flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );

  it("are found to work by booting one, and that is remembered", async () => {
    const started = performance.now();
    expect(await makeProvider().probe()).toMatchObject({ available: true, isolation: { level: "microvm" } });
    const first = performance.now() - started;
    expect(await makeProvider().probe()).toMatchObject({ available: true, version: "0.6.18" });
    expect(performance.now() - started - first).toBeLessThan(first);
  });

  it("run a session's programs with tools of files and of the host, and hold them", async () => {
    const sandbox = await open({ reuse: "session" });
    const code = `import { count } from "./servers/counter/index.ts";
import { callTool } from "cem:client";
console.log("printed");
Deno.writeTextFileSync("/workspace/made.txt", "made");
const refused = [() => Deno.readTextFileSync(${JSON.stringify(join(folder, "secret.txt"))}), () => Deno.readTextFileSync("/etc/passwd"),
  () => Deno.writeTextFileSync("/etc/made", "x"), () => new Deno.Command("/bin/true").outputSync()].map((way) => { try { way(); return "done"; } catch { return "refused"; } });
let network = "reached";
try { await fetch("http://1.1.1.1/"); } catch { network = "refused"; }
return { count: await count({}), host: await callTool("h", "t", { a: 1 }), user: Deno.uid(), refused, network };`;
    const run = (): Promise<RunOutcome> => sandbox.run({ code, invoker, session: "one" });
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
    expect(await run()).toMatchObject(expected);
    expect(readFileSync(join(workspaceDir, "made.txt"), "utf8")).toBe("made");
    expect(existsSync("/etc/made")).toBe(false);
    expect(await run()).toMatchObject(expected);
    expect(sandbox.stats()).toMatchObject({ started: 1, reused: 1 });
  });

  it("end for what fills their memory, and the next one works", async () => {
    // Little of it, since each page takes its time where the processor is emulated.
    const limits = { ...LIMITS, memoryMb: 32 };
    const sandbox = await makeProvider().create({ workspaceDir, limits });
    sandboxes.push(sandbox);
    const bomb = "const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));";
    expect(await sandbox.run({ code: bomb })).toMatchObject({ status: "out-of-memory", limitMb: 32 });
    expect(await sandbox.run({ code: "export default 42" })).toMatchObject({ value: 42 });
  });

  it("end at the time limit, and leave no process", async () => {
    const sandbox = await open();
    const outcome = await sandbox.run({ code: "while (true) {}", limits: { timeoutMs: 1_000 } });
    expect(outcome).toMatchObject({ status: "timed-out" });
    await sandbox.dispose();
    await expect.poll(machineProcesses, { timeout: 20_000 }).toEqual([]);
  });

  it("crash alone when they are killed from outside", async () => {
    const sandbox = await open();
    const outcome = await sandbox.run({
      code: "console.log('up'); await new Promise(() => {});",
      onOutput: () => machineProcesses().forEach((pid) => process.kill(pid, "SIGKILL")),
    });
    expect(outcome).toMatchObject({ status: "killed", reason: "crashed" });
  });

  it("that a killed host left behind are removed, and no others", async () => {
    const script = `import { makeProvider } from ${JSON.stringify(new URL("./provider.mjs", import.meta.url).href)};
const sandbox = await makeProvider().create({ workspaceDir: ${JSON.stringify(workspaceDir)} });
await sandbox.run({ code: "console.log('up'); await new Promise(() => {});", onOutput: () => console.log("up") });`;
    const host = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = new Promise((resolve) => host.once("exit", resolve));
    await Promise.race([new Promise((resolve) => host.stdout.once("data", resolve)), exited]);
    expect(host.exitCode).toBeNull();
    host.kill("SIGKILL");
    await exited;
    const sandbox = await open({ reuse: "session" });
    expect(await sandbox.run({ code: "export default 1", session: "own" })).toMatchObject({ value: 1 });
    const { listMachines } = await import("@cem/sandbox-msb");
    const { machinesHome } = await import("./provider.ts");
    const owners = (await listMachines(machinesHome)).map(({ host: owner }) => owner?.split("-")[0]);
    expect(owners).toEqual([String(process.pid)]);
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunOutcome, ToolInvoker } from "@cem/core";
import type { GuestSandbox } from "@cem/sandbox";
import { afterEach, expect, it } from "vitest";
import { createMicrosandboxServerProvider, type MicrosandboxServerSettings } from "./server-provider.ts";
import { OldServer, type OldServerOptions } from "../testing/old-server.ts";
import { describeWith } from "../../../../vitest.tools.ts";

const KEY = "msb_key-of-the-old-server";
const echo: ToolInvoker = {
  specificationVersion: "v1",
  invoke: async ({ args }) => ({ ok: true, value: args }),
};

describeWith("bubblewrap")("a sandbox on an older microsandbox server", () => {
  const folders: string[] = [];
  let server: OldServer | undefined;
  let sandbox: GuestSandbox | undefined;
  afterEach(async () => {
    await sandbox?.dispose();
    await server?.close();
    sandbox = undefined;
    server = undefined;
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  const workspace = () => {
    const folder = mkdtempSync(join(tmpdir(), "cem-server-test-"));
    folders.push(folder);
    mkdirSync(join(folder, "servers/math"), { recursive: true });
    writeFileSync(
      join(folder, "servers/math/index.ts"),
      "export async function add({ a, b }: { a: number; b: number }): Promise<number> {\n  return a + b;\n}\n",
    );
    return folder;
  };
  const start = async (options: OldServerOptions = {}) => {
    server = await new OldServer({ apiKey: KEY, ...options }).listen();
    return server;
  };
  const provider = (settings: Partial<MicrosandboxServerSettings> = {}) =>
    createMicrosandboxServerProvider({ url: server?.url ?? "", apiKey: KEY, standby: 0, ...settings });
  const open = async (options: OldServerOptions = {}, settings: Partial<MicrosandboxServerSettings> = {}) => {
    await start(options);
    sandbox = await provider(settings).create({ workspaceDir: workspace() });
    return sandbox;
  };
  const run = (code: string, more: object = {}): Promise<RunOutcome> =>
    (sandbox as GuestSandbox).run({ code, invoker: echo, ...more });

  it("gives values, output and the calls of tools, in the guest and on the host", async () => {
    await start();
    const servers = {
      hostPath: join(workspace(), "servers"),
      guestPath: "/workspace/servers",
      readOnly: true,
    };
    sandbox = await provider().create({ workspaceDir: workspace(), mounts: [servers] });
    const outcome = await run(`import { add } from "./servers/math/index.ts";
import { callTool } from "cem:client";
console.log("ünï", await add({ a: 5, b: 3 }));
console.error("beside");
const answers = [];
for (let i = 0; i < 3; i++) answers.push(await callTool("host", "echo", { i }));
export default [answers, (await callTool("host", "echo", "x".repeat(200_000))).length];`);
    expect(outcome).toMatchObject({
      status: "completed",
      value: [[{ i: 0 }, { i: 1 }, { i: 2 }], 200_000],
      output: "ünï 8\nbeside\n",
    });
    expect(outcome.toolCalls).toHaveLength(5);
    expect(outcome.isolation.level).toBe("microvm");
  });

  it("sends what the server's protocol has, and the key with it", async () => {
    await open();
    await run("return 1;");
    await sandbox?.dispose();
    const methods = server?.requests.map(({ method }) => method) ?? [];
    expect(methods[0]).toBe("sandbox.metrics.get");
    expect(methods.at(-1)).toBe("sandbox.stop");
    const started = server?.requests.find(({ method }) => method === "sandbox.start");
    expect(started?.params).toEqual({
      sandbox: expect.stringMatching(/^cem-[0-9a-f]+-\d+-\d+-[0-9a-f]+$/),
      namespace: "cem",
      config: {
        image: "denoland/deno:2.9.5",
        memory: expect.any(Number),
        cpus: 1,
        volumes: [expect.stringMatching(/:\/workspace$/)],
      },
    });
    expect(server?.requests.every(({ authorization }) => authorization === `Bearer ${KEY}`)).toBe(true);
    expect(server?.sandboxes.size).toBe(0);
  });

  it("loses nothing where the server loses the end of what a command said", async () => {
    await open({ losesOutput: true });
    const code = `import { callTool } from "cem:client";
console.log("0123456789".repeat(20_000));
export default await callTool("host", "echo", "back");`;
    const outcome = await run(code);
    expect(outcome).toMatchObject({ status: "completed", value: "back" });
    expect(outcome.output).toHaveLength(200_001);
  });

  it("ends a run that takes too long, prints too much or is aborted, and the next one works", async () => {
    await open();
    expect(await run("while (true) {}", { limits: { timeoutMs: 300 } })).toMatchObject({
      status: "timed-out",
    });
    expect(await run("for (;;) console.log('x'.repeat(10_000));")).toMatchObject({ reason: "output-flood" });
    const abort = new AbortController();
    const running = run("console.log('here'); await new Promise((go) => setTimeout(go, 600_000));", {
      signal: abort.signal,
      onOutput: () => abort.abort(),
    });
    expect(await running).toMatchObject({ status: "killed", reason: "aborted" });
    expect(await run("return 6 * 7;")).toMatchObject({ value: 42 });
    await expect.poll(() => server?.sandboxes.size).toBe(0);
  });

  it("ends a run that fills the disk, or the memory", async () => {
    await open();
    const fill =
      "for (let i = 0; ; i++) { Deno.writeFileSync(`part-${i % 4}`, new Uint8Array(1e6)); await new Promise((next) => setTimeout(next, 1)); }";
    expect(await run(fill, { limits: { writeMb: 16 } })).toMatchObject({
      status: "killed",
      reason: "write-limit",
    });
    expect(await run("new ArrayBuffer(2 ** 36);")).toMatchObject({ status: "out-of-memory" });
    expect(await run("return 6 * 7;")).toMatchObject({ value: 42 });
  });

  it("reads no more than a program may have printed, and ends a machine that answers more", async () => {
    await open({ floods: true });
    expect(await run("return 1;")).toMatchObject({ status: "killed", reason: "crashed" });
    const readings =
      server?.requests.filter(({ params }) => JSON.stringify(params).includes("tail -c")) ?? [];
    expect(readings.length).toBeGreaterThan(0);
    // One of each machine: what was lost would be asked for again.
    expect(new Set(readings.map(({ params }) => params["sandbox"])).size).toBe(readings.length);
    await expect.poll(() => server?.sandboxes.size).toBe(0);
  });

  it("tells of a machine that was killed under its run, and the next one works", async () => {
    await open();
    const outcome = await run("console.log('here'); await new Promise((go) => setTimeout(go, 600_000));", {
      onOutput: () => server?.crash([...server.sandboxes.keys()][0] ?? ""),
    });
    expect(outcome).toMatchObject({ status: "killed", reason: "crashed" });
    expect(await run("return 6 * 7;")).toMatchObject({ value: 42 });
  });

  it("keeps a machine for the runs of a session", async () => {
    await open({}, { reuse: "session" });
    for (let index = 0; index < 3; index += 1) {
      expect(await run("return 6 * 7;", { session: "one" })).toMatchObject({ value: 42 });
      // The machine offers itself again right after the outcome.
      await expect.poll(() => sandbox?.stats().kept).toBe(1);
    }
    expect(sandbox?.stats()).toMatchObject({ reused: 2, started: 1 });
  });

  it("stops what a process that has gone left behind, and nothing else", async () => {
    const { requests, sandboxes } = await start();
    const mine = provider();
    sandbox = await mine.create({ workspaceDir: workspace() });
    await run("return 1;");
    const own = String(requests.find(({ method }) => method === "sandbox.start")?.params["sandbox"]);
    const gone = own.replace(/-\d+-\d+-/, "-4194304-1-");
    const others = own.replace(/^cem-[0-9a-f]+-\d+-\d+-/, "cem-00000000-4194304-1-");
    for (const name of [gone, others, "users-own"])
      sandboxes.set(`cem/${name}`, { root: "", volumes: [], groups: new Set() });
    await (await provider().create({ workspaceDir: workspace() })).dispose();
    expect([...sandboxes.keys()]).toEqual(expect.arrayContaining([`cem/${others}`, "cem/users-own"]));
    expect(sandboxes.has(`cem/${gone}`)).toBe(false);
  });

  it("says which key is missing or wrong, without the key", async () => {
    await start();
    for (const [apiKey, said] of [
      [undefined, "requires an API key"],
      ["msb_wrong", "rejected the API key"],
    ] as const) {
      const settings = { url: server?.url ?? "", apiKey };
      const probe = await createMicrosandboxServerProvider(settings).probe();
      expect(probe).toMatchObject({ available: false, reason: expect.stringContaining(said) });
      expect(JSON.stringify(probe)).not.toContain("msb_wrong");
      const made = createMicrosandboxServerProvider(settings).create({ workspaceDir: workspace() });
      await expect(made).rejects.toMatchObject({ code: "SANDBOX_SERVER_REFUSED" });
    }
  });

  it("says that nobody answers, or somebody else", async () => {
    const { url } = await start();
    await server?.close();
    server = undefined;
    const probe = await createMicrosandboxServerProvider({ url }).probe();
    expect(probe).toMatchObject({ available: false, reason: expect.stringContaining("can't be reached") });
    expect(() => createMicrosandboxServerProvider({ url: "localhost" })).toThrow(/not an HTTP URL/);
  });

  it("says what the image lacks, and that the server is elsewhere", async () => {
    await start({ hasDeno: false });
    sandbox = await provider().create({ workspaceDir: workspace() });
    expect(await run("return 1;")).toMatchObject({ message: expect.stringContaining("it has no deno") });
    await sandbox.dispose();
    await server?.close();
    await start({ elsewhere: true });
    sandbox = await provider().create({ workspaceDir: workspace() });
    expect(await run("return 1;")).toMatchObject({
      message: expect.stringContaining("does not see the workspace"),
    });
  });
});

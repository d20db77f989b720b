import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createDenoSandboxProvider } from "./index.ts";
import { availableBackends, backendPerLevel } from "./testing/backends.ts";

const backends = await availableBackends();
const perLevel = await backendPerLevel();
/** The host keeps the same of a run at all levels, so that CI tries one. */
const forMemory = process.env["CEM_TESTS"] === "more" ? backends.slice(0, 1) : perLevel;

/** Where the host's user is not root, and only Deno's permissions hold, a program changes the modes of its files. */
const holdingModes = perLevel.filter(
  ({ isolation }) => isolation !== "permissions" || process.getuid?.() === 0,
);

const MIB = 1024 * 1024;

describe("createDenoSandboxProvider", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cem-provider-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };

  describe("probe", () => {
    it("says what is missing when there is no Deno", async () => {
      const provider = createDenoSandboxProvider({ denoPath: "/nowhere/deno" });
      expect(await provider.probe()).toMatchObject({
        available: false,
        reason: expect.stringContaining("/nowhere/deno"),
      });
      const created = provider.create({ workspaceDir: workspace("a") });
      await expect(created).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    });

    it("says why when what it finds is no Deno", async () => {
      const provider = createDenoSandboxProvider({ denoPath: "/bin/true", isolation: "permissions" });
      expect(await provider.probe()).toMatchObject({
        available: false,
        reason: expect.stringContaining("ended at its start"),
      });
    });

    it("chooses the strongest that works", async () => {
      const [strongest] = await availableBackends();
      const probe = await createDenoSandboxProvider().probe();
      expect(probe).toMatchObject({
        available: true,
        version: expect.stringMatching(/^2\./),
        isolation: { sandbox: "deno", level: strongest?.level },
      });
    });
  });

  describe("create", () => {
    it("refuses an isolation that is too weak, and says what there is and how to get more", async () => {
      const provider = createDenoSandboxProvider({ isolation: "permissions" });
      const created = provider.create({ workspaceDir: workspace("b"), minIsolation: "namespaces" });
      await expect(created).rejects.toMatchObject({
        code: "ISOLATION_TOO_WEAK",
        message: expect.stringMatching(
          /at least namespaces; the Deno sandbox reaches permissions here.*(Install|Use)/,
        ),
      });
      const microvm = createDenoSandboxProvider().create({
        workspaceDir: workspace("b"),
        minIsolation: "microvm",
      });
      await expect(microvm).rejects.toMatchObject({
        code: "ISOLATION_TOO_WEAK",
        message: expect.stringMatching(/at least microvm.*\. Use a microVM sandbox \([^)]*\)\.$/),
      });
    });

    it("refuses a mount whose place in the workspace is a link", async () => {
      const workspaceDir = workspace("c");
      symlinkSync("/etc", join(workspaceDir, "servers"));
      const mounts = [{ hostPath: folder, guestPath: "/workspace/servers", readOnly: true }];
      const created = createDenoSandboxProvider().create({ workspaceDir, mounts });
      await expect(created).rejects.toMatchObject({ code: "SANDBOX_SPEC_INVALID" });
    });

    it("keeps guests ready and replaces each after its run", async () => {
      const sandbox = await createDenoSandboxProvider({ standby: 1 }).create({
        workspaceDir: workspace("d"),
      });
      await sandbox.run({ code: "export default 1" });
      await expect.poll(() => sandbox.stats().standby).toBe(1);
      await sandbox.run({ code: "export default 2" });
      await expect
        .poll(() => sandbox.stats())
        .toMatchObject({
          hits: 2,
          misses: 0,
          standby: 1,
          started: 3,
          running: 0,
          waiting: 0,
        });
      await sandbox.dispose();
      expect(sandbox.stats()).toMatchObject({ standby: 0, taken: 0 });
    });

    it("lets waiting guests go when nothing runs, and starts anew", async () => {
      const sandbox = await createDenoSandboxProvider({ idleMs: 50 }).create({
        workspaceDir: workspace("e"),
      });
      await sandbox.run({ code: "export default 1" });
      await expect.poll(() => sandbox.stats().standby).toBe(0);
      expect(await sandbox.run({ code: "export default 2" })).toMatchObject({ value: 2 });
      await sandbox.dispose();
    });

    it("leaves no folder of its own behind", async () => {
      const own = () =>
        readdirSync(tmpdir()).filter(
          (name) => name.startsWith("cem-deno-") && name.includes(`-${process.pid}-`),
        );
      const before = own();
      const sandbox = await createDenoSandboxProvider().create({ workspaceDir: workspace("f") });
      await sandbox.run({ code: "export default 1" });
      await sandbox.dispose();
      expect(own()).toEqual(before);
    });

    it("goes on when its folder was removed by something else, and warns of it", async () => {
      const before = new Set(readdirSync(tmpdir()));
      const sandbox = await createDenoSandboxProvider({ standby: 0 }).create({
        workspaceDir: workspace("h"),
      });
      onTestFinished(() => sandbox.dispose());
      await sandbox.run({ code: "export default 1" });
      const warned = once(process, "warning");
      const own = readdirSync(tmpdir()).filter(
        (name) => !before.has(name) && name.startsWith("cem-deno-") && name.includes(`-${process.pid}-`),
      );
      expect(own).toHaveLength(1);
      for (const name of own) rmSync(join(tmpdir(), name), { recursive: true });
      expect(await sandbox.run({ code: "export default 2" })).toMatchObject({ value: 2 });
      expect(String(await warned)).toContain("was removed while it was in use");
    });
  });

  describe("runs", () => {
    it.each(backends)(
      "have the isolation that the backend promises: $isolation",
      async ({ isolation, level }) => {
        const sandbox = await createDenoSandboxProvider({ isolation, standby: 0 }).create({
          workspaceDir: workspace("j"),
        });
        onTestFinished(() => sandbox.dispose());
        const code = `const seen = [];
for (const path of ["/etc/shadow", "${folder}"]) { try { Deno.statSync(path); seen.push(path); } catch {} }
Deno.writeTextFileSync("/workspace/note.txt", "written");
return seen;`;
        const outcome = await sandbox.run({ code });
        expect(outcome).toMatchObject({ status: "completed", value: [], isolation: { level } });
        expect(readFileSync(join(folder, "j/note.txt"), "utf8")).toBe("written");
      },
    );

    it.each(backends)("can't change tool files, by no spelling: $isolation", async ({ isolation }) => {
      const workspaceDir = workspace(`k-${isolation}`);
      const tools = join(workspaceDir, "servers/note");
      mkdirSync(tools, { recursive: true });
      writeFileSync(join(tools, "add.ts"), "export const add = 1;");
      writeFileSync(join(tools, "key.host.ts"), "secret");
      const sandbox = await createDenoSandboxProvider({ isolation, standby: 0 }).create({
        workspaceDir,
        mounts: [
          { hostPath: join(workspaceDir, "servers"), guestPath: "/workspace/servers", readOnly: true },
          // Tool files that are not there yet.
          { hostPath: workspace("empty"), guestPath: "/workspace/skills", readOnly: true },
        ],
        hidden: ["/workspace/servers/note/key.host.ts"],
      });
      onTestFinished(() => sandbox.dispose());
      const code = `import fs from "node:fs";
const tries = [
  () => Deno.writeTextFileSync(new URL("file:///workspace/%73ervers/note/add.ts"), "changed"),
  () => Deno.readTextFileSync(new URL("file:///workspace/%73ervers/note/key.host.ts")),
  () => Deno.renameSync(new URL("file:///workspace/%73ervers"), "/workspace/moved"),
  () => Deno.mkdirSync(new URL("file:///workspace/%73kills")),
];
const done = tries.filter((one) => { try { one(); return true; } catch { return false; } }).map(String);
// Without a filter of system calls there are no threads.
const wrote = ${isolation === "bubblewrap"} && await new Promise((resolve) => {
  const worker = new Worker("data:text/javascript," + encodeURIComponent(
    'try { Deno.writeTextFileSync("/workspace/servers/note/more.ts", "x"); postMessage(true); } catch { postMessage(false); }'
  ), { type: "module" });
  worker.onmessage = ({ data }) => { worker.terminate(); resolve(data); };
});
return { done, wrote, listed: fs.readdirSync("/workspace", { recursive: true }) };`;
      expect(await sandbox.run({ code })).toMatchObject({
        status: "completed",
        value: { done: [], wrote: false, listed: expect.arrayContaining(["servers/note/add.ts"]) },
      });
    });

    it.each(backends)(
      "start in a workspace whose modes a program took away: $isolation",
      async ({ isolation }) => {
        const workspaceDir = workspace(`l-${isolation}`);
        const sandbox = await createDenoSandboxProvider({ isolation, standby: 0 }).create({ workspaceDir });
        onTestFinished(() => sandbox.dispose());
        for (const value of [1, 2]) {
          const outcome = await sandbox.run({
            code: `Deno.chmodSync("/workspace", 0o050); return ${value};`,
          });
          expect(outcome).toMatchObject({ status: "completed", value });
        }
        await sandbox.run({ code: "return 3;" });
        expect(statSync(workspaceDir).mode & 0o7777).toBe(0o750);
      },
    );

    it.runIf(backends.some(({ isolation }) => isolation === "bubblewrap"))(
      "leave no file that runs as the host's user",
      async () => {
        const sandbox = await createDenoSandboxProvider({ isolation: "bubblewrap" }).create({
          workspaceDir: workspace("m"),
        });
        onTestFinished(() => sandbox.dispose());
        const code = `Deno.writeTextFileSync("/workspace/x", "");
Deno.chmodSync("/workspace/x", 0o755);
try { Deno.chmodSync("/workspace/x", 0o6755); } catch (error) { return error.name; }`;
        expect(await sandbox.run({ code })).toMatchObject({ value: "PermissionDenied" });
        expect(statSync(join(folder, "m/x")).mode & 0o7777).toBe(0o755);
      },
    );

    it.each(holdingModes)(
      "change nothing of what is mounted read-only: $isolation",
      async ({ isolation }) => {
        const [workspaceDir, tools] = [workspace(`n-${isolation}`), workspace(`tools-${isolation}`)];
        writeFileSync(join(tools, "one.ts"), "", { mode: 0o644 });
        const sandbox = await createDenoSandboxProvider({ isolation }).create({
          workspaceDir,
          mounts: [{ hostPath: tools, guestPath: "/workspace/servers", readOnly: true }],
        });
        onTestFinished(() => sandbox.dispose());
        const code = `import fs from "node:fs"; const found = [];
for (const path of ["/workspace/servers", "/workspace/servers/one.ts"]) for (const change of [fs.fchmodSync, fs.futimesSync])
  try { change(fs.openSync(path, "r"), 0, 0); found.push(path); } catch {}
return found;`;
        expect(await sandbox.run({ code })).toMatchObject({ value: [] });
      },
    );

    it.each(forMemory)("keep the host's memory flat: $isolation", async ({ isolation }) => {
      const sandbox = await createDenoSandboxProvider({ isolation }).create({ workspaceDir: workspace("g") });
      const round = async (count: number) => {
        for (let index = 0; index < count; index += 1) {
          const outcome = await sandbox.run({
            code: `console.log("x".repeat(100_000)); export default ${index}`,
          });
          expect(outcome).toMatchObject({ status: "completed", value: index });
        }
        return process.memoryUsage().rss;
      };
      const warm = await round(5);
      expect((await round(20)) - warm).toBeLessThan(64 * MIB);
      await sandbox.dispose();
    });

    it("takes turns between sandboxes, however busy one is", async () => {
      const provider = createDenoSandboxProvider({ maxConcurrentRuns: 1 });
      const [busy, calm] = await Promise.all([
        provider.create({ workspaceDir: workspace("h") }),
        provider.create({ workspaceDir: workspace("i") }),
      ]);
      const order: string[] = [];
      const note = (name: string) => async (run: Promise<unknown>) => {
        await run;
        order.push(name);
      };
      const runs = [
        ...Array.from({ length: 6 }, () => note("busy")(busy.run({ code: "export default 1" }))),
        note("calm")(calm.run({ code: "export default 1" })),
      ];
      await Promise.all(runs);
      expect(order.indexOf("calm")).toBeLessThan(3);
      await Promise.all([busy.dispose(), calm.dispose()]);
    });
  });
});

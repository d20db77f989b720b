import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryWorkspace } from "../../test/temporary-workspace.ts";

const MODULE = JSON.stringify(fileURLToPath(new URL("../index.ts", import.meta.url)));
const PROGRAMS = ["--conditions=@cem/source", "--input-type=module", "-e"] as const;

/** Runs a program with a small file system of its own as the workspace, which it finds in `workspaceDir`. */
function onOwnDisk(workspaceDir: string, program: string, options = "size=512k"): unknown {
  const script = `mount -t tmpfs -o ${options} tmpfs "$1" && shift && exec "$@"`;
  const setUp = `import { createStateStore, createSessionLog, createResultStore, readSession } from ${MODULE};
import { readdirSync, readFileSync, writeFileSync, unlinkSync } from "node:fs"; import { spawnSync } from "node:child_process"; import path from "node:path";
const workspaceDir = ${JSON.stringify(workspaceDir)}; const told = [];
const problem = async (action) => { try { await action(); return "none"; } catch ({ code, message }) { return { code, message }; } };
${program}
process.stdout.write(JSON.stringify(told));`;
  const args = [
    "--mount",
    "--",
    "sh",
    "-c",
    script,
    "sh",
    workspaceDir,
    process.execPath,
    ...PROGRAMS,
    setUp,
  ];
  const done = spawnSync("unshare", args, { encoding: "utf8" });
  expect(done.stderr).toBe("");
  return JSON.parse(done.stdout);
}

const canMount =
  spawnSync("unshare", ["--mount", "--", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;

describe.runIf(canMount)("a disk that is full", () => {
  it("leaves the old state whole, nothing half-written, and says what is full", () => {
    const { workspaceDir } = temporaryWorkspace();
    const program = `const state = createStateStore({ workspaceDir });
await state.save({ step: 1 });
const large = { step: 2, text: "x".repeat(600_000) };
for (const file of [undefined, "notes.yaml", "deep/er/data.msgpack"]) told.push(await problem(() => state.save(large, file)));
told.push(await problem(() => createResultStore({ workspaceDir }).write(Buffer.alloc(600_000), "text/plain", "large.txt")));
told.push((await state.read()).data, readdirSync(workspaceDir, { recursive: true }).filter((name) => /\\.(?:json|yaml|msgpack|txt|tmp)$/.test(name)));
await state.save({ step: 3 });
told.push((await state.read()).data);`;
    const full = (what: string) => ({
      code: "DISK_FULL",
      message: `${what} can't be written: the file system of the workspace is full (ENOSPC). What was there before is unchanged.`,
    });
    expect(onOwnDisk(workspaceDir, program)).toEqual([
      full("/workspace/state.json"),
      full("/workspace/notes.yaml"),
      full("/workspace/deep/er/data.msgpack"),
      full("A result"),
      { step: 1 },
      ["state.json"],
      { step: 3 },
    ]);
  });

  it("leaves the session's log whole, tells it, and logs what was missed once there is room", () => {
    const { workspaceDir } = temporaryWorkspace();
    const program = `const problems = []; const log = createSessionLog({ workspaceDir, onProblem: ({ code }) => problems.push(code) });
const run = (value) => ({ task: "t", result: { code: "x".repeat(2_000), value, output: "", error: null } });
log.record(run(1)); await log.read();
const filler = path.join(workspaceDir, "filler");
try { for (let n = 1; ; n += 1) writeFileSync(filler, Buffer.alloc(4_096), { flag: "a" }); } catch {}
for (let n = 0; n < 5; n += 1) log.record(run(2));
await log.read();
told.push(problems[0], (await readSession(workspaceDir, "last")).tasks.length, await problem(() => log.checkpoint()).then(({ code }) => code));
unlinkSync(filler);
log.record(run(3)); await log.close();
const last = await readSession(workspaceDir, "last");
told.push(last.tasks.length, last.tasks.at(-1).result, last.ended_at !== null, readdirSync(path.join(workspaceDir, "sessions")).sort());`;
    expect(onOwnDisk(workspaceDir, program)).toEqual([
      "DISK_FULL",
      1,
      "DISK_FULL",
      7,
      3,
      true,
      ["current_session.json", "session_001.json"],
    ]);
  });

  it("has no inode left: the same", () => {
    const { workspaceDir } = temporaryWorkspace();
    const program = `const state = createStateStore({ workspaceDir });
await state.save({ step: 1 });
try { for (let n = 0; ; n += 1) writeFileSync(path.join(workspaceDir, "file" + n), ""); } catch {}
told.push((await problem(() => state.save({ step: 2 }))).code, (await state.read()).data);`;
    expect(onOwnDisk(workspaceDir, program, "nr_inodes=20")).toEqual(["DISK_FULL", { step: 1 }]);
  });
});

describe.runIf(canMount)("a disk that a customer has filled", () => {
  it("lets runs begin within the quota, which can delete files; who has no usage yet is told that it is full", () => {
    const { workspaceDir } = temporaryWorkspace();
    const program = `const { createRunMeter } = await import(${MODULE}); const { mkdirSync } = await import("node:fs");
const admit = async (id) => {
  const home = path.join(workspaceDir, id); mkdirSync(home, { recursive: true });
  const { code, message } = await createRunMeter({ home, quotas: [{ per: "day", runs: 2 }] }).admit();
  told.push(code === undefined ? "begun" : { code, message });
};
await admit("ada");
try { for (;;) writeFileSync(path.join(workspaceDir, "filler"), Buffer.alloc(4_096), { flag: "a" }); } catch {}
await admit("ada"); await admit("ada"); await admit("eve");
unlinkSync(path.join(workspaceDir, "filler"));
await admit("eve");`;
    expect(onOwnDisk(workspaceDir, program)).toEqual([
      "begun",
      "begun",
      { code: "QUOTA_EXCEEDED", message: expect.stringContaining("2 of 2 runs") },
      {
        code: "DISK_FULL",
        message:
          "The usage of quotas can't be written: the file system of the customers' folders (customers.dir) is full (ENOSPC). What was there before is unchanged. Nothing was run.",
      },
      "begun",
    ]);
  });
});

describe.runIf(canMount)("a read-only workspace", () => {
  it("is read, and says so where it is written", () => {
    const { workspaceDir } = temporaryWorkspace();
    const program = `const state = createStateStore({ workspaceDir });
await state.save({ step: 1 });
spawnSync("mount", ["-o", "remount,ro", workspaceDir]);
told.push((await state.read()).data, await problem(() => state.save({ step: 2 })), (await problem(() => createResultStore({ workspaceDir }).write(Buffer.alloc(1), "text/plain", "a.txt"))).code);
const problems = []; const log = createSessionLog({ workspaceDir, onProblem: ({ code }) => problems.push(code) });
log.record({ task: "t", result: { code: "", value: 1, output: "", error: null } }); await log.close();
told.push(problems.at(0));`;
    expect(onOwnDisk(workspaceDir, program)).toEqual([
      { step: 1 },
      {
        code: "NOT_WRITABLE",
        message:
          "/workspace/state.json can't be written: the file system of the workspace is read-only (EROFS). What was there before is unchanged.",
      },
      "NOT_WRITABLE",
      "NOT_WRITABLE",
    ]);
  });
});

describe.runIf(canMount)("a read-only folder of customers, or of temporary files", () => {
  it("is named by its setting, without its place on the host", () => {
    const { workspaceDir } = temporaryWorkspace();
    const program = `const { createCustomerFolders, createRunMeter } = await import(${MODULE});
const folders = createCustomerFolders(workspaceDir);
const { home } = await folders.open("ada");
const admit = async () => told.push(await createRunMeter({ home, quotas: [{ per: "day", runs: 2 }] }).admit());
spawnSync("mount", ["-o", "remount,ro", workspaceDir]);
told.push(await problem(() => folders.open("eve")));
await admit();
spawnSync("mount", ["-o", "remount,rw", workspaceDir]);
await admit();
process.env.TMPDIR = path.join(workspaceDir, "tmp"); spawnSync("mkdir", [process.env.TMPDIR]);
spawnSync("mount", ["-o", "remount,ro", workspaceDir]);
await admit();`;
    const refused = (what: string, where: string, outcome = "") => ({
      code: "NOT_WRITABLE",
      message: `${what} can't be written: the file system of ${where} is read-only (EROFS). What was there before is unchanged.${outcome}`,
    });
    expect(onOwnDisk(workspaceDir, program)).toEqual([
      refused("The customer's folder", "the customers' folders (customers.dir)"),
      refused("The usage of quotas", "the customers' folders (customers.dir)", " Nothing was run."),
      {},
      refused("A lock for the usage of the customer ada", "temporary files (TMPDIR)", " Nothing was run."),
    ]);
  });
});

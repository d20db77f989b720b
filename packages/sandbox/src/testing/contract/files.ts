import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxProvider } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Harness, recordingInvoker, TOOL_FILES, writeFiles, type ContractOptions } from "./harness.ts";

const CANARY = "canary-7d1f";

/** Contract tests: file access of programs. */
export function filesContract(makeProvider: () => SandboxProvider, options: ContractOptions): void {
  describe("workspace", () => {
    let harness: Harness;
    beforeAll(async () => {
      harness = await Harness.make(makeProvider(), { ...TOOL_FILES, "note.txt": "hello" });
      writeFileSync(join(harness.folder, "secret.txt"), CANARY);
      mkdirSync(`${harness.workspace}-evil`);
      writeFileSync(`${harness.workspace}-evil/secret.txt`, CANARY);
    });
    afterAll(() => harness.dispose());

    it("is read and written by relative and by absolute path, and is the current folder", async () => {
      const code = `import fs, { readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
Deno.writeTextFileSync("/workspace/a.txt", "A");
writeFileSync("/workspace/b.txt", "B");
await Deno.mkdir("sub/deeper", { recursive: true });
await Deno.rename("/workspace/a.txt", "sub/a.txt");
return [Deno.cwd(), Deno.readTextFileSync("note.txt"), readFileSync("/workspace/sub/a.txt", "utf8"),
  await readFile("b.txt", "utf8"), fs.existsSync("/workspace/a.txt"), Deno.realPathSync("b.txt")];`;
      expect(await harness.value(code)).toEqual(["/workspace", "hello", "A", "B", false, "/workspace/b.txt"]);
      expect(readFileSync(join(harness.workspace, "b.txt"), "utf8")).toBe("B");
    });

    it("keeps what one run wrote for the next", async () => {
      await harness.value("await Deno.writeTextFile('state.json', JSON.stringify({ step: 1 }))");
      const code = `import state from "./state.json" with { type: "json" };\nexport default state.step + 1;`;
      expect(await harness.value(code)).toBe(2);
    });

    it("opens SQLite inside, not outside, and attaches nothing", async () => {
      const code = `import { DatabaseSync } from "node:sqlite";
const db = new DatabaseSync("/workspace/data.db");
db.exec("CREATE TABLE IF NOT EXISTS t(a); DELETE FROM t; INSERT INTO t VALUES (1), (2)");
const rows = db.prepare("SELECT count(*) AS n FROM t").get().n;
const tries = [() => new DatabaseSync("../outside.db"), () => new DatabaseSync("/tmp/outside.db"),
  () => db.exec("ATTACH '../outside.db' AS o; CREATE TABLE o.t(a)"), () => db.exec("VACUUM INTO '../outside.db'")];
return [rows, tries.map((attempt) => { try { attempt(); return "opened"; } catch { return "refused"; } })];`;
      expect(await harness.value(code)).toEqual([2, ["refused", "refused", "refused", "refused"]]);
      expect(existsSync(join(harness.folder, "outside.db"))).toBe(false);
    });

    it.each([
      ["by an absolute path", "/etc/passwd"],
      ["by its own environment", "/proc/self/environ"],
      ["by the first process's environment", "/proc/1/environ"],
      ["by dots", "../secret.txt"],
      ["by dots behind the workspace", "/workspace/../secret.txt"],
      ["by doubled slashes and dots", "/workspace//./..//secret.txt"],
      ["by encoded dots", "%2e%2e/secret.txt"],
      ["by encoded slashes", "..%2fsecret.txt"],
      ["by backslashes", String.raw`..\\secret.txt`],
      ["by fullwidth dots", "\uFF0E\uFF0E/secret.txt"],
      ["past a NUL", String.raw`note.txt\0../../secret.txt`],
      ["in a folder whose name begins alike", "/workspace-evil/secret.txt"],
      ["in such a folder by dots", "../workspace-evil/secret.txt"],
    ])("reads nothing outside %s", async (_, path) => {
      const code = `const path = "${path}"; const found = [];
const fs = await import("node:fs");
const ways = [() => Deno.readTextFileSync(path), () => fs.readFileSync(path, "utf8"), () => Deno.openSync(path).readSync(new Uint8Array(9)) + "root:",
  () => Deno.readTextFileSync(new URL("file://" + path)), () => fs.readFileSync(new URL(path, "file:///workspace/x"), "utf8")];
for (const way of ways) { try { found.push(way()); } catch (error) { found.push(error.name); } }
return found.join("\\n");`;
      const found = await harness.value(code);
      expect(found).not.toContain(CANARY);
      expect(found).not.toContain("root:");
      expect(found).not.toContain("PATH=");
    });

    it("reads nothing outside by a host path", async () => {
      const outside = join(harness.folder, "secret.txt");
      const evil = `${harness.workspace}-evil/secret.txt`;
      const code = `return [${JSON.stringify(outside)}, ${JSON.stringify(evil)}].map((p) => { try { return Deno.readTextFileSync(p); } catch (e) { return e.name; } })`;
      expect(JSON.stringify(await harness.value(code))).not.toContain(CANARY);
    });

    it("writes nothing outside", async () => {
      const code = `const tries = ["../made.txt", "/tmp/cem-made.txt", "/workspace/../made.txt", "/workspace-evil/made.txt"];
return tries.map((path) => { try { Deno.writeTextFileSync(path, "x"); return "written"; } catch (error) { return "refused"; } });`;
      expect(await harness.value(code)).toEqual(["refused", "refused", "refused", "refused"]);
      expect(existsSync(join(harness.folder, "made.txt"))).toBe(false);
    });

    it("imports nothing outside", async () => {
      writeFileSync(join(harness.folder, "secret.json"), JSON.stringify({ canary: CANARY }));
      const paths = ["../secret.json", "/etc/secret.json", join(harness.folder, "secret.json")];
      const code = `import { createRequire } from "node:module";
const found = [];
for (const path of ${JSON.stringify(paths)}) {
  try { found.push(await import(path, { with: { type: "json" } })); } catch (error) { found.push(error.name); }
  try { found.push(createRequire("file:///workspace/x.js")(path)); } catch (error) { found.push(error.name); }
}
return JSON.stringify(found);`;
      expect(await harness.value(code)).not.toContain(CANARY);
    });

    it("makes no links, symbolic or hard", async () => {
      const code = `import fs from "node:fs";
const ways = [() => Deno.symlinkSync("/etc", "out1"), () => fs.symlinkSync("/etc", "out2"), () => Deno.linkSync("/etc/hostname", "out3"),
  () => fs.linkSync("/etc/hostname", "out4"), () => Deno.symlinkSync("..", "out5")];
for (const way of ways) { try { way(); } catch {} }
const found = [];
for (const path of ["out1/hostname", "out2/hostname", "out3", "out4", "out5/secret.txt"]) { try { found.push(Deno.readTextFileSync(path)); } catch {} }
return found;`;
      expect(await harness.value(code)).toEqual([]);
    });
  });

  describe("links that lie in the workspace", () => {
    it("lead nowhere outside, for reading or writing", async () => {
      const harness = await Harness.make(makeProvider());
      try {
        mkdirSync(join(harness.folder, "outside"));
        writeFileSync(join(harness.folder, "outside/secret.txt"), CANARY);
        symlinkSync(join(harness.folder, "outside"), join(harness.workspace, "link"));
        const code = `try { Deno.writeTextFileSync("link/made.txt", "x"); } catch {}
try { return Deno.readTextFileSync("link/secret.txt"); } catch (error) { return error.name; }`;
        const outcome = await harness.run(code);
        const { isolation, status } = outcome;
        expect(status).toBe(isolation.level === "permissions" ? "refused" : "completed");
        expect(JSON.stringify(outcome)).not.toContain(CANARY);
        expect(existsSync(join(harness.folder, "outside/made.txt"))).toBe(false);
      } finally {
        await harness.dispose();
      }
    });

    it("lead nowhere outside once a program has moved them, or a folder above them", async () => {
      const harness = await Harness.make(makeProvider(), { "deep/er/note.txt": "inside" });
      try {
        writeFileSync(join(harness.folder, "note.txt"), CANARY);
        symlinkSync("../note.txt", join(harness.workspace, "deep/er/up.txt"));
        symlinkSync("er/note.txt", join(harness.workspace, "deep/note.txt"));
        const code = `import fs from "node:fs";
const told = [];
const attempt = (use) => { try { told.push(use()); } catch (error) { told.push(error.name); } };
attempt(() => fs.renameSync("deep/er/up.txt", "up.txt"));
attempt(() => Deno.readTextFileSync("up.txt"));
attempt(() => Deno.writeTextFileSync("up.txt", "changed"));
attempt(() => Deno.renameSync("deep/er", "er"));
attempt(() => fs.readFileSync("er/up.txt", "utf8"));
return told;`;
        const outcome = await harness.run(code);
        const { isolation, status } = outcome;
        expect(status).toBe(isolation.level === "permissions" ? "refused" : "completed");
        expect(JSON.stringify(outcome)).not.toContain(CANARY);
        expect(readFileSync(join(harness.folder, "note.txt"), "utf8")).toBe(CANARY);
      } finally {
        await harness.dispose();
      }
    });

    it("work where they stay inside", async () => {
      const harness = await Harness.make(makeProvider(), { "real/note.txt": "inside" });
      try {
        symlinkSync("real", join(harness.workspace, "link"));
        expect(await harness.value("return Deno.readTextFileSync('link/note.txt')")).toBe("inside");
      } finally {
        await harness.dispose();
      }
    });
  });

  describe.skipIf(options.mounts === false)("mounts", () => {
    let harness: Harness;
    beforeAll(async () => {
      harness = await Harness.make(makeProvider(), {}, (folder) => {
        writeFiles(join(folder, "shared"), TOOL_FILES);
        writeFiles(join(folder, "notes"), { "note.txt": "from a mount" });
        return {
          mounts: [
            { hostPath: join(folder, "shared/servers"), guestPath: "/workspace/servers", readOnly: true },
            { hostPath: join(folder, "shared/skills"), guestPath: "/workspace/skills", readOnly: true },
            { hostPath: join(folder, "notes"), guestPath: "/data/notes", readOnly: false },
          ],
        };
      });
    });
    afterAll(() => harness.dispose());

    it("appear in the guest, and their modules find each other", async () => {
      const code = `import { add } from "./servers/calculator/index.ts";
import { addTwice } from "./skills/double_number/index.ts";
export default [await add({ a: 1, b: 2 }), await addTwice(3), Deno.readTextFileSync("/data/notes/note.txt")];`;
      expect(await harness.value(code)).toEqual([3, 6, "from a mount"]);
    });

    it("are read by relative paths, by Node's functions and from any folder, under their own names", async () => {
      const code = `import fs from "node:fs";
import { readFile } from "node:fs/promises";
const file = "servers/calculator/index.ts";
const texts = [Deno.readTextFileSync(file), fs.readFileSync("./" + file, "utf8"), await readFile("/workspace/../workspace//./" + file, "utf8"),
  Deno.readTextFileSync(new URL("file:///workspace/" + file)), await (await Deno.open(file)).readable.pipeThrough(new TextDecoderStream()).getReader().read().then(({ value }) => value)];
const listed = [Array.from(Deno.readDirSync("servers"), ({ name }) => name).sort(), fs.readdirSync("./servers").sort()];
const real = [Deno.realPathSync(file), fs.realpathSync(file)];
Deno.mkdirSync("below", { recursive: true });
Deno.chdir("below");
texts.push(Deno.readTextFileSync("../" + file));
Deno.chdir("/workspace/servers");
const there = Deno.cwd();
texts.push(Deno.readTextFileSync("calculator/index.ts"));
Deno.chdir("/workspace");
let told = "";
try { Deno.readTextFileSync("servers/none.ts"); } catch (error) { told = error.message; }
return { same: new Set(texts).size, listed, real, there, told };`;
      const value = (await harness.value(code)) as Record<string, unknown>;
      const file = "/workspace/servers/calculator/index.ts";
      expect(value).toMatchObject({
        same: 1,
        listed: [
          ["My-Server", "calculator", "host", "lacking", "made", "plain"],
          ["My-Server", "calculator", "host", "lacking", "made", "plain"],
        ],
        real: [file, file],
        there: "/workspace/servers",
      });
      // A path that is not mapped is reported as the program wrote it.
      expect(value["told"]).toMatch(/(?:^|[^\w/])(?:\/workspace\/)?servers\/none\.ts/);
    });

    it("leave no folder of theirs in the workspace, whatever a program does", async () => {
      const code = `for (const make of [() => Deno.mkdirSync("servers"), () => Deno.mkdirSync("/workspace/skills", { recursive: true }), () => Deno.writeTextFileSync("skills", "x")]) try { make(); } catch {}
return Deno.readTextFileSync("servers/calculator/index.ts").length > 0;`;
      const { isolation, ...outcome } = await harness.run(code);
      expect(outcome).toMatchObject({ status: "completed", value: true });
      // A microVM and a pod mount them in the workspace.
      if (isolation.level === "microvm" || isolation.sandbox === "kubernetes") return;
      expect(readdirSync(harness.workspace).filter((name) => name !== "below")).toEqual([]);
    });

    it("cover a folder of the workspace with their name, and leave it as it is", async () => {
      const own = await Harness.make(makeProvider(), {}, (folder) => {
        writeFiles(join(folder, "workspace"), { "servers/mine/note.txt": "mine" });
        writeFiles(join(folder, "shared"), TOOL_FILES);
        const servers = {
          hostPath: join(folder, "shared/servers"),
          guestPath: "/workspace/servers",
          readOnly: true,
        };
        return { mounts: [servers] };
      });
      try {
        const code = `import { add } from "./servers/calculator/index.ts";
let seen = "nothing"; try { seen = Deno.readTextFileSync("servers/mine/note.txt"); } catch {}
export default [await add({ a: 1, b: 2 }), seen];`;
        expect(await own.value(code)).toEqual([3, "nothing"]);
        expect(readFileSync(join(own.workspace, "servers/mine/note.txt"), "utf8")).toBe("mine");
      } finally {
        await own.dispose();
      }
    });

    it("are all whose calls are recorded: a program's own modules are none of a server", async () => {
      const own = await Harness.make(makeProvider(), {}, () => ({ defaultSession: "own" }));
      const text = "export async function pay() { return 'paid'; }";
      try {
        for (const folder of ["servers/bank", "skills/bank"]) {
          const write = `await Deno.mkdir("${folder}", { recursive: true }); await Deno.writeTextFile("${folder}/index.ts", ${JSON.stringify(text)}); return 1;`;
          await own.value(write);
          const outcome = await own.run(
            `import { pay } from "./${folder}/index.ts";\nexport default await pay();`,
          );
          expect(outcome).toMatchObject({ value: "paid", toolCalls: [] });
        }
      } finally {
        await own.dispose();
      }
    });

    it("reach the host by the client module beside them, and so does the program", async () => {
      const invoker = recordingInvoker(({ args }) => args);
      const code = `import { echo } from "./servers/host/index.ts";
import { callTool } from "./client/index.ts";
export default [await echo("a tool"), await callTool("host", "echo", "the program")];`;
      expect(await harness.value(code, { invoker })).toEqual(["a tool", "the program"]);
    });

    it("keep hidden files from being read and imported", async () => {
      const hiding = await Harness.make(makeProvider(), {}, (folder) => {
        writeFiles(folder, {
          "shared/servers/crm/find.host.ts": `export const secret = "${CANARY}";\n`,
          "shared/servers/crm/shown.ts": `export const shown = 1;\n`,
        });
        const servers = {
          hostPath: join(folder, "shared/servers"),
          guestPath: "/workspace/servers",
          readOnly: true,
        };
        return { mounts: [servers], hidden: ["/workspace/servers/crm/find.host.ts"] };
      });
      try {
        const real = JSON.stringify(join(hiding.folder, "shared/servers/crm/find.host.ts"));
        const code = `import { readFileSync } from "node:fs";
const hidden = "./servers/crm/find.host.ts";
const tries = [() => Deno.readTextFileSync(hidden), () => readFileSync("/workspace/servers/crm/find.host.ts", "utf8"),
  () => Deno.readTextFileSync(${real}), () => import(hidden).then((module) => module.secret), () => import("file://" + ${real}).then((module) => module.secret)];
const seen: unknown[] = [];
for (const one of tries) { try { seen.push(await one()); } catch (error) { seen.push(error.message); } }
const { shown } = await import("./servers/crm/shown.ts");
export default { seen, shown };`;
        const value = (await hiding.value(code)) as { seen: unknown[]; shown: number };
        expect(value.shown).toBe(1);
        expect(value.seen.map(String).join()).not.toContain(CANARY);
        expect(value.seen[3]).toContain("runs on the host");
      } finally {
        await hiding.dispose();
      }
    });

    it("can't be written when they are read-only", async () => {
      const file = join(harness.folder, "shared/servers/calculator/index.ts");
      const before = readFileSync(file, "utf8");
      const code = `import fs from "node:fs";
const path = "/workspace/servers/calculator/index.ts"; const results = [];
const ways = [() => Deno.writeTextFileSync(path, "evil"), () => Deno.removeSync(path), () => Deno.renameSync("/workspace/servers", "/workspace/old"),
  () => fs.appendFileSync(path, "evil"), () => Deno.truncateSync(path), () => Deno.writeTextFileSync("servers/new.ts", "evil"), () => Deno.chmodSync(path, 0o777),
  () => Deno.writeTextFileSync(${JSON.stringify(file)}, "evil")];
for (const way of ways) { try { way(); results.push("done"); } catch { results.push("refused"); } }
return results;`;
      expect(await harness.value(code)).toEqual(Array.from({ length: 8 }, () => "refused"));
      expect(readFileSync(file, "utf8")).toBe(before);
      expect(existsSync(join(harness.folder, "shared/servers/new.ts"))).toBe(false);
    });

    it("are written where they are not read-only", async () => {
      await harness.value("Deno.writeTextFileSync('/data/notes/made.txt', 'made')");
      expect(readFileSync(join(harness.folder, "notes/made.txt"), "utf8")).toBe("made");
    });

    it("are refused at places that are the system's, and when they don't exist", async () => {
      const provider = makeProvider();
      const { workspace, folder } = harness;
      const create = (hostPath: string, guestPath: string) =>
        provider.create({ workspaceDir: workspace, mounts: [{ hostPath, guestPath, readOnly: true }] });
      await expect(create(folder, "/etc")).rejects.toMatchObject({ code: "SANDBOX_SPEC_INVALID" });
      await expect(create(folder, "/workspace/../etc")).rejects.toMatchObject({
        code: "SANDBOX_SPEC_INVALID",
      });
      await expect(create(join(folder, "nowhere"), "/data/x")).rejects.toMatchObject({
        code: "SANDBOX_SPEC_INVALID",
      });
    });
  });
}

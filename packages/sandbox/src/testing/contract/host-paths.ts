import { homedir } from "node:os";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { guestBootFile } from "../../guests/guest-boot.ts";
import type { Harness } from "./harness.ts";

/** Programs that show what the runtime knows of its location, by value, output and error. */
const PROGRAMS: Record<string, string> = {
  "the runtime": `return [Deno.mainModule, Deno.execPath(), Deno.cwd(), Deno.realPathSync("."), Deno.makeTempDirSync({ dir: "." }), import.meta, Deno.inspect(Deno.mainModule)];`,
  "the process": `console.log(process.argv, process.execPath, process.argv0); return [process.argv, process.execPath, process.argv0, process.title, process.cwd(), "" + process.execPath, JSON.stringify(process.argv)];`,
  "modules of Node's": `import process, { argv, execPath } from "node:process"; import path from "node:path"; import { pathToFileURL } from "node:url";
return [argv, execPath, process.argv, path.resolve("x"), pathToFileURL("x").href, process.getBuiltinModule("process").execPath];`,
  "files of Node's": `import fs from "node:fs"; fs.writeFileSync("seen.txt", "x"); const found = [fs.realpathSync("."), String(fs.realpathSync(".", "buffer")), fs.opendirSync("/workspace").path, (await fs.promises.opendir("/workspace")).path, fs.mkdtempSync("/workspace/t"), await fs.promises.mkdtemp("/workspace/t"), fs.readdirSync("/workspace", { withFileTypes: true }), fs.createReadStream("/workspace/seen.txt").path, fs.mkdirSync("/workspace/a/b", { recursive: true })];
return [...found, await new Promise((go) => fs.realpath(".", (_, path) => go(path))), process.getBuiltinModule("fs").realpathSync(".")];`,
  "a database": `import { DatabaseSync } from "node:sqlite"; const db = new DatabaseSync("/workspace/seen.db"); const found = [db.location(), db.prepare("pragma database_list").all()]; db.close(); try { new DatabaseSync("/workspace/no/seen.db"); } catch (error) { found.push(error.message); } return found;`,
  "what it watches": `const watcher = Deno.watchFs("/workspace"); setTimeout(() => Deno.writeTextFileSync("/workspace/watched.txt", "x"), 20); for await (const { paths } of watcher) { watcher.close(); return paths; }`,
  "errors of files": `import fs from "node:fs"; const told = []; const tell = (error) => { console.log(error); told.push(error.message, error.stack, error.path, "" + error, JSON.stringify(error)); };
for (const path of ["/workspace/none", "none", "..", "/workspace/..", "../../none", "/etc/passwd", "/workspace/../x", new URL("file:///workspace/none")]) for (const use of [Deno.readTextFileSync, Deno.statSync, Deno.realPathSync, Deno.readDirSync, Deno.chdir, Deno.open, Deno.remove, fs.readFileSync, fs.realpathSync, fs.promises.readFile, fs.promises.stat, fs.readdirSync]) try { await use(path); } catch (error) { tell(error); }
for (const use of [() => Deno.rename("/workspace/none", "/workspace/b"), () => Deno.copyFileSync("/workspace/none", "b"), () => Deno.symlinkSync("/workspace/a", "b"), () => fs.cpSync("/workspace/none", "/workspace/b"), () => new Deno.Command(Deno.execPath()).outputSync(), () => fetch("file:///workspace/none")]) try { await use(); } catch (error) { tell(error); } return told;`,
  "errors that come later": `import fs from "node:fs"; const told = []; const tell = (error) => told.push(error.message, error.stack, error.path, JSON.stringify(error));
for (const use of [fs.readFile, fs.stat, fs.readdir, fs.realpath]) await new Promise((go) => use("/workspace/none", (error) => go(tell(error))));
for (const open of [fs.createReadStream, fs.createWriteStream]) { const stream = open("/workspace/none/x"); await new Promise((go) => stream.on("error", (error) => go(tell(error)))); }
try { for await (const _ of fs.createReadStream("/workspace/none")); } catch (error) { tell(error); } try { fs.cpSync("/workspace", "/workspace/x"); } catch (error) { tell(error); }
const listen = () => {}; fs.writeFileSync("watched.txt", "x"); fs.watchFile("/workspace/watched.txt", listen); fs.unwatchFile("/workspace/watched.txt", listen); return told;`,
  stacks: `const found = [new Error("first").stack]; const take = (held = {}) => (Error.captureStackTrace(held), held.stack); found.push(take()); Error.stackTraceLimit = 200; found.push(take());
await new Promise((go) => setTimeout(() => go(found.push(take())), 1)); queueMicrotask(() => found.push(take())); await 0;
for (const specifier of ["./none.ts", "/etc/passwd", "npm:x", "./throws.ts", "./broken.ts", "node:none"]) { Deno.writeTextFileSync("throws.ts", "export const seen = new Error('in').stack; console.log(seen); throw new Error(seen);"); Deno.writeTextFileSync("broken.ts", "export const = 1"); try { await import(specifier); } catch (error) { console.error(error); found.push(error.message, error.stack); } }
const { EventEmitter } = await import("node:events"); new EventEmitter().on("x", () => found.push(take())).emit("x"); console.trace("here");
Error.prepareStackTrace = (_, sites) => sites.map((site) => [site.getFileName(), site.getScriptNameOrSourceURL(), String(site)].join()); found.push(...take()); structuredClone({ get a() { found.push(...take()); return 1; } }); return found;`,
  "modules that the runtime itself loads": `import vm from "node:vm"; import { Module } from "node:module"; const found = [];
const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER, text = 'import("node:process")';
const own = new Module("own"); own.paths = [];
for (const load of [() => vm.runInThisContext(text, { importModuleDynamically }), () => new vm.Script(text, { importModuleDynamically }).runInThisContext(), () => vm.compileFunction("return " + text, [], { importModuleDynamically })(), () => (own._compile("module.exports = " + text, "/workspace/own.js"), own.exports)])
  try { const { default: process } = await load(); found.push(process.execPath, process.cwd(), process.argv); } catch (error) { found.push("" + error); }
return found;`,
  "an error that ends it": `await Deno.readTextFile("/workspace/none/at/all");`,
  "an error of another's promise": `setTimeout(() => { Deno.readTextFileSync("/workspace/none/at/all"); }, 1); await new Promise(() => {});`,
  "an import that fails": `import { x } from "./servers/none/index.ts"; return x;`,
  threads: `const url = URL.createObjectURL(new Blob(["self.onmessage = () => self.postMessage([Deno.execPath(), Deno.cwd(), Deno.mainModule, process.argv, process.execPath, new Error('x').stack, (() => { try { return Deno.realPathSync('.'); } catch (error) { return error.message; } })()].map((one) => 'it is ' + one))"], { type: "text/javascript" }));
let worker; try { worker = new Worker(url, { type: "module" }); } catch (error) { return [error.message]; } worker.postMessage(1); const told = await new Promise((go) => { worker.onmessage = ({ data }) => go(data); worker.onerror = (event) => { event.preventDefault(); go([event.message]); }; }); worker.terminate(); return told;`,
};

/** Contract tests: no program learns where it is on the host. */
export function hostPathsContract(harness: () => Harness): void {
  describe("names no path of the host", () => {
    const HOST_PATHS = () => [
      harness().folder,
      dirname(guestBootFile),
      "node_modules/",
      process.cwd(),
      process.execPath,
      homedir(),
    ];

    it.each(Object.keys(PROGRAMS))("by %s", async (name) => {
      const outcome = await harness().run(PROGRAMS[name] as string);
      expect(outcome).toMatchObject({ status: name.startsWith("an ") ? "failed" : "completed" });
      const { isolation: _, ...told } = outcome;
      const text = JSON.stringify(told);
      for (const path of HOST_PATHS().filter((one) => one.length > 1)) expect(text).not.toContain(path);
    });
  });

  it("has SQLite tell nothing of which folders there are", async () => {
    const tell = (folder: string) => {
      const set = `PRAGMA temp_store_directory = '${folder}'`;
      const code = `import { DatabaseSync } from "node:sqlite"; const db = new DatabaseSync(":memory:"); const set = ${JSON.stringify(set)};
const told = []; for (const use of [() => db.exec(set), () => db.prepare(set).all(), () => db.createTagStore().all([set])]) try { told.push(use()); } catch (error) { told.push(error.message); } return told;`;
      return harness().value(code);
    };
    expect(await tell(harness().folder)).toEqual(await tell("/nowhere/at/all"));
  });

  it("leaves the content of files as it is, even where it names the host", async () => {
    const text = `first\n${harness().workspace}/servers\n`;
    const code = `const text = ${JSON.stringify(text)}; Deno.writeTextFileSync("content.txt", text); return (await Deno.readTextFile("content.txt")) === text;`;
    expect(await harness().value(code)).toBe(true);
  });
}

import { COLLECT, readingAll, told } from "./attack.ts";
import type { Attack } from "./attack.ts";

/** Attacks that read or change files of the host. */
export const FILE_ATTACKS: readonly Attack[] = [
  {
    title: "absolute paths",
    programs: ({ outside }) => readingAll([`${outside}/secret.txt`, `${outside}/secret.json`]),
  },
  {
    title: "files of the system",
    programs: () => readingAll(["/etc/shadow", "/etc/passwd"]),
    check: ({ results }) => {
      if (/root:[^"]*:0:0:/u.test(JSON.stringify(results))) throw new Error("users of the host are read");
    },
  },
  {
    title: "environments of processes",
    programs: ({ pid, variable }) => `import process from "node:process";
${COLLECT}for (const id of ["self", "1", "${pid}", "thread-self"]) for (const name of ["environ", "cmdline", "maps", "mem"]) await attempt(() => Deno.readFileSync("/proc/" + id + "/" + name).subarray(0, 65536));
await attempt(() => Deno.env.toObject()[${JSON.stringify(variable)}]); await attempt(() => process.env[${JSON.stringify(variable)}]); await attempt(() => JSON.stringify(process.env));
return texts();`,
  },
  {
    title: "secrets of a home",
    programs: ({ home }) =>
      readingAll(
        [".ssh/id_rsa", ".aws/credentials", ".npmrc", ".config/token"].map((name) => `${home}/${name}`),
      ),
  },
  {
    title: "modules and JSON from outside",
    programs: ({ outside }) => `${COLLECT}import { createRequire } from "node:module";
const path = ${JSON.stringify(outside)} + "/secret.json";
await attempt(async () => JSON.stringify((await import(path, { with: { type: "json" } })).default));
await attempt(async () => JSON.stringify((await import("file://" + path, { with: { type: "json" } })).default));
await attempt(async () => JSON.stringify((await import(new URL("../outside/secret.json", import.meta.url).href, { with: { type: "json" } })).default));
await attempt(() => JSON.stringify(createRequire(import.meta.url)(path))); await attempt(() => createRequire("file:///").resolve(path));
await attempt(() => import(path.replace(".json", ".txt"), { with: { type: "text" } }).then((one) => one.default));
return texts();`,
  },
  {
    title: "dots in paths",
    programs: ({ outside }) =>
      readingAll(
        [
          "../outside",
          "/workspace/../outside",
          "./x/../../outside",
          ".//..//outside",
          `/workspace/../../../../../..${outside}`,
        ].map((folder) => `${folder}/secret.txt`),
      ),
  },
  {
    title: "writing beside the workspace",
    programs: ({ outside, sibling, workspace }) => `${COLLECT}import fs from "node:fs";
for (const path of ["../planted", "/workspace/../planted", ${JSON.stringify(outside)} + "/planted", ${JSON.stringify(outside)} + "/secret.txt", ${JSON.stringify(sibling)} + "/planted", ${JSON.stringify(workspace)} + "/../planted"]) {
  await attempt(() => Deno.writeTextFileSync(path, "planted")); await attempt(() => fs.appendFileSync(path, "planted"));
  await attempt(() => Deno.mkdirSync(path + "-folder")); await attempt(() => Deno.removeSync(path)); await attempt(() => Deno.truncateSync(path)); await attempt(() => Deno.chmodSync(path, 0o777));
}
await attempt(() => Deno.renameSync(${JSON.stringify(outside)} + "/secret.txt", "/workspace/stolen"));
return texts();`,
  },
  {
    title: "encoded dots, backslashes and zero bytes",
    programs: () =>
      readingAll([
        "%2e%2e%2foutside/secret.txt",
        "..%2foutside%2fsecret.txt",
        String.raw`..\outside\secret.txt`,
        "../outside/secret.txt\0.png",
        "\uFF0E\uFF0E/outside/secret.txt",
        "..\u2215outside\u2215secret.txt",
      ]),
  },
  {
    title: "a folder whose name begins alike",
    programs: ({ sibling, workspace }) =>
      readingAll([`${sibling}/secret.txt`, `${workspace}-evil/secret.txt`, "/workspace-evil/secret.txt"]),
  },
  {
    title: "links that lead outside, in one run and over two",
    programs: ({ outside }) => [
      `${COLLECT}import fs from "node:fs";
await attempt(() => Deno.symlinkSync(${JSON.stringify(outside)}, "/workspace/away")); await attempt(() => fs.symlinkSync("../outside", "/workspace/near"));
await attempt(() => Deno.symlinkSync("/proc/self/root" + ${JSON.stringify(outside)}, "/workspace/root"));
for (const name of ["away", "near", "root"]) { await attempt(() => Deno.readTextFileSync(name + "/secret.txt")); await attempt(() => Deno.writeTextFileSync(name + "/planted", "planted")); await attempt(() => [...Deno.readDirSync(name)].map((one) => one.name).join()); }
return texts();`,
      readingAll(["/workspace/away/secret.txt", "/workspace/near/secret.txt", "/workspace/root/secret.txt"]),
    ],
  },
  {
    title: "hard links to files of the host",
    programs: ({ outside }) => `${COLLECT}import fs from "node:fs";
await attempt(() => Deno.linkSync(${JSON.stringify(outside)} + "/secret.txt", "/workspace/hard")); await attempt(() => fs.linkSync("../outside/secret.txt", "/workspace/hard2"));
await attempt(() => Deno.readTextFileSync("/workspace/hard")); await attempt(() => Deno.readTextFileSync("/workspace/hard2"));
return texts();`,
  },
  {
    title: "a race between a file and a link",
    programs: ({ outside }) => `${COLLECT}import fs from "node:fs";
const until = Date.now() + 700; let turns = 0;
while (Date.now() < until) {
  turns += 1;
  try { Deno.writeTextFileSync("/workspace/raced", "own"); } catch {}
  const reading = Deno.readTextFile("/workspace/raced").catch(() => "");
  try { Deno.removeSync("/workspace/raced"); Deno.symlinkSync(${JSON.stringify(outside)} + "/secret.txt", "/workspace/raced"); } catch {}
  const text = await reading; if (text !== "own") got.push(text);
  try { got.push(Deno.readTextFileSync("/workspace/raced").replace(/^own$/, "")); } catch {}
  try { Deno.removeSync("/workspace/raced"); } catch {}
  if (got.length > 50) got.splice(0, 40);
}
return texts();`,
  },
  {
    title: "descriptors of the process",
    programs: () => `${COLLECT}import fs from "node:fs";
for (let at = 0; at < 64; at++) {
  await attempt(() => fs.readlinkSync("/proc/self/fd/" + at)); await attempt(() => { const bytes = new Uint8Array(512); fs.readSync(at + 3, bytes, 0, 512, 0); return bytes; });
  await attempt(() => Deno.openSync("/proc/self/fd/" + at, { write: true }).writeSync(new TextEncoder().encode("forged")));
}
await attempt(() => Deno.readTextFileSync("/proc/self/cwd/../outside/secret.txt")); await attempt(() => Deno.readTextFileSync("/dev/fd/0"));
return texts().replaceAll(/[^\\w]/g, "");`,
    limits: { timeoutMs: 3_000 },
  },
  {
    title: "kernel's ways to the host: root of a process, core patterns, cgroups",
    programs: ({
      pid,
      outside,
    }) => `${COLLECT}for (const id of ["1", "self", "${pid}"]) for (const way of ["root", "cwd", "task/1/root"]) await attempt(() => Deno.readTextFileSync("/proc/" + id + "/" + way + ${JSON.stringify(outside)} + "/secret.txt"));
for (const path of ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/fs/cgroup/cgroup.procs", "/proc/self/oom_score_adj"]) await attempt(() => { Deno.writeTextFileSync(path, "1"); throw new Error("WROTE " + path); });
return texts();`,
    check: (evidence) => {
      if (told(evidence).includes("WROTE")) throw new Error("a file of the kernel was written");
    },
  },
  {
    title: "logs and results of earlier runs",
    programs: ({ records }) =>
      readingAll([
        `${records}/cem.log`,
        `${records}/audit.jsonl`,
        "../records/cem.log",
        "../records/audit.jsonl",
      ]),
  },
  {
    title: "files of the tools and of skills",
    programs:
      () => `${COLLECT}for (const path of ["/workspace/servers/crm/echo.ts", "/workspace/servers/crm/index.ts", "/workspace/client/index.ts", "/workspace/skills/new/index.ts"]) {
  await attempt(() => { Deno.mkdirSync(path.replace(/\\/[^/]*$/, ""), { recursive: true }); Deno.writeTextFileSync(path, "export const echo = () => 'tampered';"); });
}
const { echo } = await import("./servers/crm/index.ts");
return await echo({ value: "untouched" });`,
    check: ({ results }) => {
      if (JSON.stringify(results.at(-1)?.value) !== '{"value":"untouched"}')
        throw new Error("the tool was changed");
    },
  },
  {
    title: "watching and listing what lies around",
    programs: ({
      outside,
      home,
    }) => `${COLLECT}for (const path of ["..", "/", ${JSON.stringify(outside)}, ${JSON.stringify(home)}, "/tmp", "/root", "/home"]) {
  await attempt(() => [...Deno.readDirSync(path)].map((one) => one.name).join()); await attempt(() => Deno.watchFs(path).close()); await attempt(() => Deno.realPathSync(path + "/secret.txt")); await attempt(() => JSON.stringify(Deno.statSync(path + "/secret.txt")));
}
return texts();`,
    check: ({ results }) => {
      if (/id_rsa|secret\.json/u.test(JSON.stringify(results.at(-1)?.value)))
        throw new Error("a folder of the host is listed");
    },
  },
  {
    title: "copies of trees, watches, globs, blobs and streams of files",
    programs: ({
      outside,
    }) => `import fs from "node:fs"; import fsp from "node:fs/promises"; import process from "node:process";
${COLLECT}const folder = ${JSON.stringify(outside)}; const file = folder + "/secret.txt"; const any = fs as any;
await attempt(() => { any.cpSync(folder, "/workspace/tree", { recursive: true, dereference: true, verbatimSymlinks: true }); return fs.readFileSync("/workspace/tree/secret.txt", "utf8"); });
await attempt(() => any.globSync(folder + "/*").join()); await attempt(async () => (await any.openAsBlob(file)).text()); await attempt(() => any.statfsSync(folder) && "STATED");
await attempt(() => new Promise((ok, no) => { const watcher = fs.watch(folder, () => {}); watcher.on("error", no); setTimeout(() => { watcher.close(); ok("WATCHED"); }, 50); }));
await attempt(() => new Promise((ok) => { fs.watchFile(file, { interval: 20 }, (now) => ok(now.size > 0 ? "WATCHED" : "no")); setTimeout(() => { fs.unwatchFile(file); ok("no"); }, 100); }));
await attempt(() => { process.chdir(folder); return fs.readFileSync("secret.txt", "utf8"); }); await attempt(() => { Deno.chdir(folder); return Deno.readTextFileSync("secret.txt"); });
await attempt(async () => { for await (const part of fs.createReadStream(file, "utf8")) return part; }); await attempt(async () => (await fsp.open(file)).readFile("utf8")); await attempt(() => fs.opendirSync(folder).readSync()?.name);
for (const way of ["rename", "link", "symlink", "copyFile"]) await attempt(() => { any[way + "Sync"](file, "/workspace/by-" + way); return fs.readFileSync("/workspace/by-" + way, "utf8"); });
for (const way of ["rename", "copyFile"]) await attempt(() => { fs.writeFileSync("/workspace/own", "planted"); any[way + "Sync"]("/workspace/own", folder + "/planted"); });
await attempt(() => new Function("return import('file://' + file)")()); await attempt(async () => new Promise((ok) => { const made = new EventSource("file://" + file); made.onmessage = ({ data }) => ok(data); made.onerror = () => ok("no"); }));
return texts();`,
    limits: { timeoutMs: 5_000 },
    check: (evidence) => {
      if (/WATCHED|STATED/u.test(told(evidence))) throw new Error("a folder of the host is seen");
    },
  },
  {
    title: "databases and archives that open files by themselves",
    programs: ({ outside }) => `${COLLECT}
await attempt(async () => { const { DatabaseSync } = await import("node:sqlite"); const db = new DatabaseSync(${JSON.stringify(outside)} + "/planted.db"); db.exec("create table t(x)"); });
await attempt(async () => { const { DatabaseSync } = await import("node:sqlite"); const db = new DatabaseSync(":memory:"); db.exec("attach '" + ${JSON.stringify(outside)} + "/planted2.db' as o; create table o.t(x)"); });
await attempt(() => Deno.openKv(${JSON.stringify(outside)} + "/planted.kv")); await attempt(() => Deno.makeTempFileSync({ dir: ${JSON.stringify(outside)} })); await attempt(() => Deno.makeTempDirSync({ prefix: "../../outside/planted" }));
return texts();`,
  },
  {
    title: "an archive whose link leads outside",
    programs: ({ outside }) => `${COLLECT}
for (const [kind, name, value] of [["link", "slip", ${JSON.stringify(outside)}], ["file", "slip/planted", "x"], ["file", "../outside/planted", "x"]])
  await attempt(() => (kind === "link" ? Deno.symlinkSync(value, "/workspace/" + name) : Deno.writeTextFileSync("/workspace/" + name, value)));
return texts();`,
  },
];

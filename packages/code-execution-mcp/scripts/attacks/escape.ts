import { COLLECT, told } from "./attack.ts";
import type { Attack, Evidence } from "./attack.ts";

const NOTHING = (evidence: Evidence): void => {
  if (told(evidence).includes("ESCAPED")) throw new Error("it got out");
};
const escape = (title: string, program: string): Attack => ({
  title,
  programs: () => program,
  check: NOTHING,
});
/** Tells whether what was reached can do what a program may not. */
const REACHED = `const reached = (made: any): string => { try { if (made?.Deno !== undefined && made !== globalThis) { made.Deno.readTextFileSync("/etc/passwd"); return "ESCAPED"; } if (typeof made?.binding === "function") { made.binding("spawn_sync").spawn({ file: "/bin/true", args: ["true"] }); return "ESCAPED"; } if (made?.mainModule?.require("child_process").execSync("true")) return "ESCAPED"; } catch {} return "no"; };
`;

/** Attacks that climb out of the realm, start processes or load native code. */
export const ESCAPE_ATTACKS: readonly Attack[] = [
  escape(
    "constructors of everything at hand",
    `${REACHED}import { echo } from "./servers/crm/index.ts"; const got: string[] = [];
for (const one of [echo, echo({}), new Error("x"), console.log, Deno.readTextFile, setTimeout, fetch, URL, import.meta, (await import("./client/index.ts"))] as any[]) for (const climb of [() => one.constructor.constructor("return globalThis")(), () => one.constructor.constructor("return process")(), () => Object.getPrototypeOf(async () => {}).constructor("return globalThis")()]) try { got.push(reached(await climb())); } catch {}
return got;`,
  ),
  escape(
    "species, thenables and async iterators",
    `${REACHED}const got: string[] = []; class Evil extends Promise<any> { static get [Symbol.species]() { return function (executor: any) { executor((value: any) => got.push(reached(value?.constructor?.constructor?.("return globalThis")())), () => {}); } as any; } }
Object.defineProperty(Promise.prototype, "constructor", { value: Evil, configurable: true }); const { echo } = await import("./servers/crm/index.ts"); await echo({}).then(() => {}); for await (const one of { [Symbol.asyncIterator]: () => ({ next: () => ({ then: (done: any) => { got.push(reached(done.constructor("return globalThis")())); done({ done: true }); } }) }) } as any) void one; return got;`,
  ),
  escape(
    "frames of a stack",
    `${REACHED}const got: string[] = []; Error.prepareStackTrace = (_, frames) => { for (const frame of frames) for (const way of ["getThis", "getFunction"]) { const one = (frame as any)[way]?.(); if (one) got.push(reached(one), reached(one.constructor?.constructor?.("return globalThis")())); } return "x"; };
const { echo } = await import("./servers/crm/index.ts"); try { (null as any).x; } catch (error) { got.push(String((error as Error).stack)); } await echo(undefined as any).catch((error: any) => got.push(String(error.stack))); Error.stackTraceLimit = Infinity; new Error("x").stack; return got;`,
  ),
  escape(
    "recursion that runs out within the host's functions",
    `${REACHED}const got: string[] = []; const deep = (): void => { try { deep(); } catch (error) { try { got.length < 5 && got.push(reached((error as any).constructor.constructor("return globalThis")())); } catch {} Deno.readTextFile("/etc/passwd").catch(() => {}); } }; try { deep(); } catch {} return got;`,
  ),
  escape(
    "patched parts of the language",
    `const evil = (): any => { throw new Error("patched"); }; const own = Array.prototype.map; JSON.parse = evil; JSON.stringify = evil; Promise.prototype.then = evil; Array.prototype.push = evil; Object.keys = evil; Reflect.apply = evil; Map.prototype.get = evil; TextEncoder.prototype.encode = evil; Function.prototype.apply = evil; Array.prototype.map = own; export default "ESCAPED".slice(0, 3);`,
  ),
  escape(
    "modules of node that start processes or open up the runtime",
    `${COLLECT}for (const name of ["child_process", "worker_threads", "cluster", "vm", "v8", "inspector", "module", "repl", "wasi", "sqlite", "process", "test", "trace_events", "async_hooks", "diagnostics_channel"]) await attempt(async () => { const one: any = await import("node:" + name);
  await attempt(() => { one.execSync("true"); return "ESCAPED"; }); await attempt(() => { one.spawnSync("true").pid && got.push("ESCAPED"); }); await attempt(() => one.runInThisContext?.("typeof Deno.Command").includes("x")); await attempt(() => { one.writeHeapSnapshot("/workspace/../outside/planted"); }); await attempt(() => { one.setFlagsFromString?.("--allow-natives-syntax"); }); return "looked"; });
return texts();`,
  ),
  {
    title: "the memory of processes, and snapshots of the heap",
    programs: ({
      pid,
    }) => `import fs from "node:fs"; import v8 from "node:v8"; import process from "node:process";
${COLLECT}const words = (text: string) => (text.match(/(?:tok_|canary)[0-9a-f]{8,}/g) ?? []).slice(0, 9).join();
await attempt(() => { (v8 as any).writeHeapSnapshot("/workspace/heap.json"); return words(fs.readFileSync("/workspace/heap.json", "latin1")); });
await attempt(async () => { let text = ""; for await (const part of (v8 as any).getHeapSnapshot()) text += part; return words(text); });
for (const id of ["self", "1", process.ppid, ${pid}]) await attempt(() => {
  const file = fs.openSync("/proc/" + id + "/mem", "r"); const found: string[] = []; let left = 64;
  for (const [, from, to] of fs.readFileSync("/proc/" + id + "/maps", "utf8").matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm)) {
    const bytes = Buffer.alloc(Math.min(2 ** 20, Number("0x" + to) - Number("0x" + from))); if (left-- < 0) break;
    try { fs.readSync(file, bytes, 0, bytes.length, Number("0x" + from)); found.push(words(bytes.toString("latin1"))); } catch {}
  }
  return found.join("");
});
for (const name of ["environ", "auxv", "stack", "syscall", "map_files", "ns/user", "uid_map", "mountinfo"]) await attempt(() => words(fs.readFileSync("/proc/${pid}/" + name, "latin1")));
return texts();`,
    limits: { timeoutMs: 6_000 },
    check: NOTHING,
  },
  escape(
    "native code",
    `${COLLECT}Deno.writeFileSync("x.node", new Uint8Array([127, 69, 76, 70])); await attempt(() => { Deno.dlopen("libc.so.6", {}); return "ESCAPED"; }); await attempt(async () => { (await import("node:module")).createRequire("file:///workspace/x.js")("./x.node"); return "ESCAPED"; });
await attempt(async () => { const process = (await import("node:process")).default as any; process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6"); return "ESCAPED"; }); await attempt(async () => { ((await import("node:process")).default as any).binding("spawn_sync").spawn({ file: "/bin/true", args: [] }); return "ESCAPED"; }); await attempt(() => new (globalThis as any).Deno.UnsafePointerView(1n)); return texts();`,
  ),
  escape(
    "commands by hidden names",
    `${COLLECT}const hidden = ["Com", "mand"].join(""); await attempt(() => { new (Deno as any)[hidden]("/bin/true").outputSync(); return "ESCAPED"; }); await attempt(async () => { (await import("node:" + atob("Y2hpbGRfcHJvY2Vzcw=="))).execSync("true"); return "ESCAPED"; });
await attempt(() => (0, eval)("new Deno.Command('true').outputSync(), 'ESCAPED'")); await attempt(() => Function("return new Deno.Command('true').outputSync(), 'ESCAPED'")()); await attempt(async () => (await import("data:text/javascript,export default (new Deno.Command('true').outputSync(), 'ESCAPED')")).default);
await attempt(async () => (await import(URL.createObjectURL(new Blob(["export default (new Deno.Command('true').outputSync(), 'ESCAPED')"], { type: "text/javascript" })))).default); await attempt(() => Deno.run?.({ cmd: ["true"] }) && "ESCAPED"); return texts();`,
  ),
  escape(
    "what the runtime keeps inside",
    `${COLLECT}for (const key of ["internal", "core", "[[ext]]", "bench", "jupyter", "lint"]) await attempt(() => { const one = (Deno as any)[key]; return one?.ops ? "ESCAPED" : "no"; }); for (const symbol of Object.getOwnPropertySymbols(Deno)) await attempt(() => ((Deno as any)[symbol]?.core?.ops ? "ESCAPED" : "no"));
await attempt(() => (globalThis as any).__bootstrap && "ESCAPED"); await attempt(() => Deno.permissions.request({ name: "run" }).then(({ state }) => (state === "granted" ? "ESCAPED" : "no"))); await attempt(() => Deno.permissions.query({ name: "read", path: "/etc" }).then(({ state }) => (state === "granted" ? "ESCAPED" : "no"))); return texts();`,
  ),
  escape(
    "workers with more permissions",
    `${COLLECT}await attempt(() => new Promise((ok, no) => { const made = new Worker(URL.createObjectURL(new Blob(["try { new Deno.Command('true').outputSync(); postMessage('ESCAPED') } catch { postMessage('no') }"], { type: "text/javascript" })), { type: "module", deno: { permissions: { run: true, read: true, net: true } } } as any); made.onmessage = ({ data }) => ok(data); made.onerror = no; setTimeout(no, 500); })); return texts();`,
  ),
  escape(
    "maps of imports and settings in the workspace",
    `${COLLECT}for (const [name, text] of [["deno.json", '{"imports":{"./servers/crm/index.ts":"./evil.ts"},"permissions":{"default":{"all":true}}}'], ["import_map.json", '{"imports":{"node:fs":"./evil.ts"}}'], ["package.json", '{"type":"module","imports":{"#x":"./evil.ts"}}'], [".env", "DENO_PERMISSIONS=all"], ["evil.ts", "export const echo = () => 'ESCAPED';"], ["node_modules/fs/index.js", "module.exports='ESCAPED'"]]) await attempt(() => { Deno.mkdirSync("node_modules/fs", { recursive: true }); Deno.writeTextFileSync(name, text); });
const { echo } = await import("./servers/crm/index.ts"); return await echo({ value: "real" });`,
  ),
  {
    title: "leftovers that a second run finds",
    programs: () => [
      `(globalThis as any).left = "ESCAPED"; (Object.prototype as any).left = "ESCAPED"; (Deno as any).left = "ESCAPED"; (console as any).left = "ESCAPED"; try { localStorage.setItem("left", "ESCAPED"); } catch {} setTimeout(() => console.log("ESCAPED"), 30); return 1;`,
      `await new Promise((done) => setTimeout(done, 60)); let kept = null; try { kept = localStorage.getItem("left"); } catch {} return [(globalThis as any).left, ({} as any).left, (Deno as any).left, (console as any).left, kept].map(String);`,
    ],
    check: NOTHING,
  },
  escape(
    "a signal to the process that started it",
    `import process from "node:process"; for (const signal of ["SIGKILL", "SIGTERM", "SIGSTOP"] as const) for (const pid of [process.ppid, 1, -1]) { try { Deno.kill(pid, signal); } catch {} try { process.kill(pid, signal); } catch {} } return 1;`,
  ),
];

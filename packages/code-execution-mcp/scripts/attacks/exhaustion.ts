import type { Attack, Evidence } from "./attack.ts";

const SHORT = { timeoutMs: 1_500, memoryMb: 128, writeMb: 16 } as const;
const MAX_OVERTIME_MS = 1_500;

function ended({ results, longestMs }: Evidence): void {
  const status = results.at(-1)?.status;
  if (status === "success") throw new Error("it was let go on to its end");
  if (longestMs > SHORT.timeoutMs + MAX_OVERTIME_MS) throw new Error(`it took ${Math.round(longestMs)} ms`);
}

const endless = (title: string, program: string): Attack => ({
  title,
  programs: () => program,
  limits: SHORT,
  check: ended,
});
/** May succeed or fail, as long as it ends in time and the host goes on. */
const bounded = (title: string, program: string): Attack => ({
  title,
  programs: () => program,
  limits: SHORT,
  check: ({ longestMs }) => {
    if (longestMs > SHORT.timeoutMs + MAX_OVERTIME_MS) throw new Error(`it took ${Math.round(longestMs)} ms`);
  },
});
const worker = (code: string): string =>
  `const url = URL.createObjectURL(new Blob([${JSON.stringify(code)}], { type: "text/javascript" }));`;

/** Attacks that use up time, memory, disk and output. */
export const EXHAUSTION_ATTACKS: readonly Attack[] = [
  endless("a busy loop", "while (true) {}"),
  endless(
    "microtasks without end",
    "const again = (): Promise<void> => Promise.resolve().then(again); await again();",
  ),
  endless(
    "ticks and immediates without end",
    `import process from "node:process"; const a = () => process.nextTick(a); a(); const b = () => setImmediate(b); b(); await new Promise(() => setInterval(() => {}, 1));`,
  ),
  endless(
    "work in finally, in catch and in a handler of signals",
    `for (const name of ["SIGTERM", "SIGINT"] as const) try { Deno.addSignalListener(name, () => {}); } catch {}
addEventListener("unload", () => { while (true) {} }); try { while (true) {} } finally { while (true) {} }`,
  ),
  endless("waiting for what never comes", "await new Promise((resolve) => setTimeout(resolve, 1e8));"),
  endless(
    "a pattern that backtracks",
    `/^(a+)+$/.test("a".repeat(60) + "b"); while (true) /^(a|a)*$/.test("a".repeat(40) + "b");`,
  ),
  endless(
    "a thread that waits",
    "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); while (true) {}",
  ),
  endless(
    "a loop in WebAssembly",
    `new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,108,0,0,10,9,1,7,0,3,64,12,0,11,11]))).exports.l(); while (true) {}`,
  ),
  bounded(
    "memory of WebAssembly",
    "const all = []; for (;;) all.push(new WebAssembly.Memory({ initial: 1000 }));",
  ),
  bounded(
    "objects on the heap",
    "const all: any[] = []; for (;;) all.push({ next: all.length, text: 'x'.repeat(1000) + all.length });",
  ),
  bounded("buffers beside the heap", "const all = []; for (;;) all.push(new Uint8Array(1 << 26).fill(1));"),
  bounded(
    "texts that double",
    "let text = 'xy'; const all = []; for (;;) { text += text; all.push(text.split('')); }",
  ),
  bounded("recursion", "const down = (): number => 1 + down(); return down();"),
  bounded("a large array of nothing", "return new Array(2 ** 32 - 1).fill(0).length;"),
  bounded(
    "workers",
    `${worker("setInterval(() => {}, 1000)")} for (;;) new Worker(url, { type: "module" });`,
  ),
  bounded(
    "threads of node",
    `const { Worker } = await import("node:worker_threads"); for (;;) new Worker("setInterval(() => {}, 1000)", { eval: true });`,
  ),
  bounded(
    "processes that outlive",
    `import { spawn } from "node:child_process"; for (let at = 0; at < 50; at++) { try { spawn("setsid", ["sh", "-c", "sleep 300 & sleep 300"], { detached: true }).unref(); } catch {} try { new Deno.Command("sleep", { args: ["300"] }).spawn().unref(); } catch {} } return 1;`,
  ),
  bounded("output", "for (;;) console.log('x'.repeat(100_000));"),
  bounded(
    "output past the console",
    "const bytes = new Uint8Array(1 << 20).fill(10); for (;;) { Deno.stdout.writeSync(bytes); Deno.stderr.writeSync(bytes); }",
  ),
  bounded("a large result", "return Array.from({ length: 300 }, () => 'x'.repeat(1_000_000));"),
  bounded(
    "a deep result",
    "let deep: any = 1; for (let at = 0; at < 200_000; at++) deep = [deep]; return deep;",
  ),
  bounded(
    "a result that grows while it is written",
    `return { toJSON() { return { toJSON: this.toJSON, next: Array.from({ length: 1000 }, () => ({ toJSON() { return "x".repeat(1e6); } })) }; } };`,
  ),
  bounded("getters that never end", "return { get a(): any { return { get a() { while (true) {} } }; } };"),
  bounded(
    "a proxy without an end",
    "const endless: any = new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: (_, key) => (key === 'toJSON' ? undefined : endless) }); return endless;",
  ),
  bounded(
    "a deep argument",
    `import { echo } from "./servers/crm/index.ts"; let deep: any = 1; for (let at = 0; at < 100_000; at++) deep = { deep }; return await echo({ deep });`,
  ),
  bounded(
    "a large argument",
    `import { echo } from "./servers/crm/index.ts"; return await echo({ text: "x".repeat(200_000_000) });`,
  ),
  bounded(
    "calls without end",
    `import { echo } from "./servers/crm/index.ts"; for (;;) await echo({}).catch(() => {});`,
  ),
  bounded(
    "calls at once",
    `import { echo } from "./servers/crm/index.ts"; await Promise.allSettled(Array.from({ length: 200_000 }, (_, at) => echo({ at })));`,
  ),
  bounded(
    "the disk",
    "for (let at = 0; ; at++) Deno.writeFileSync('/workspace/full' + at, new Uint8Array(1 << 22).fill(1));",
  ),
  bounded(
    "a sparse file",
    "const file = Deno.openSync('/workspace/sparse', { create: true, write: true }); file.truncateSync(1e12); for (let at = 1; ; at++) { file.seekSync(at * 1e8, 0); file.writeSync(new Uint8Array(1 << 20)); }",
  ),
  bounded(
    "empty files and folders",
    "for (let at = 0; ; at++) { Deno.writeTextFileSync('/workspace/e' + at, ''); Deno.mkdirSync('/workspace/d' + at); }",
  ),
  bounded(
    "one folder in another",
    "for (let path = '/workspace/n'; ; path = 'n') { Deno.mkdirSync(path); Deno.chdir(path); }",
  ),
  bounded(
    "what unpacks to much, by streams",
    `let bytes = new Uint8Array(1 << 24); const through = async (stream: any) => { bytes = new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer()); };
await through(new CompressionStream("gzip")); const all = []; for (;;) all.push(new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer()).fill(1));`,
  ),
  bounded(
    "what unpacks to much, by zlib",
    `import zlib from "node:zlib"; const small = zlib.deflateSync(new Uint8Array(1 << 25)); const all = []; for (;;) all.push(zlib.inflateSync(small).fill(1));`,
  ),
  bounded(
    "much to parse, by JSON and by dates",
    "const text = '['.repeat(5e6); for (;;) { try { JSON.parse(text); } catch {} new Intl.DateTimeFormat('en').format(1); }",
  ),
  bounded("large numbers", "let number = 3n; for (;;) number **= 3n;"),
  bounded("timers", "for (let at = 0; ; at++) setTimeout(() => {}, 1e8);"),
  bounded(
    "the end of the process",
    `import process from "node:process"; try { Deno.exit(0); } catch {} process.exit(0); process.abort();`,
  ),
  bounded(
    "errors that are thrown late",
    "setTimeout(() => { throw new Error('late'); }); Promise.reject(new Error('nobody waits')); queueMicrotask(() => { throw null; }); await new Promise((done) => setTimeout(done, 50));",
  ),
  {
    title: "a tool that never answers",
    programs: () => `import { hold } from "./servers/crm/index.ts"; await hold({});`,
    limits: SHORT,
    check: (evidence) => {
      ended(evidence);
      if (!evidence.cancelled) throw new Error("the tool was not told to stop");
    },
  },
];

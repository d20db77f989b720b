import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunOutcome, SandboxProvider } from "@cem/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Harness, recordingInvoker, TOOL_FILES, until } from "./harness.ts";

const SESSION = "realms";

/** A change that one run makes, how the next looks for it, and what it has to see there. */
interface Change {
  what: string;
  make: string;
  look: string;
  sees: unknown;
}

const CHANGES: Change[] = [
  { what: "a global", make: "globalThis.mark = 1;", look: "return 'mark' in globalThis;", sees: false },
  {
    what: "a replaced global",
    make: "globalThis.structuredClone = () => 'mine';",
    look: "return structuredClone({ a: 1 });",
    sees: { a: 1 },
  },
  {
    what: "a prototype",
    make: "Array.prototype.map = () => ['mine'];",
    look: "return [1].map((n) => n + 1);",
    sees: [2],
  },
  {
    what: "the prototype of an iterator",
    make: "Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true });",
    look: "return [...[1, 2]];",
    sees: [1, 2],
  },
  {
    what: "statics of RegExp",
    make: "/(secret)/.exec('secret');",
    look: "return RegExp.$1;",
    sees: "",
  },
  {
    what: "Intl and WebAssembly",
    make: "Intl.NumberFormat.prototype.mark = 1; WebAssembly.Module.prototype.mark = 1;",
    look: "return ['mark' in Intl.NumberFormat.prototype, 'mark' in WebAssembly.Module.prototype];",
    sees: [false, false],
  },
  {
    what: "how stacks are written",
    make: "Error.prepareStackTrace = () => 'mine'; Error.stackTraceLimit = 0;",
    look: "return new Error('x').stack.startsWith('Error: x');",
    sees: true,
  },
  {
    what: "Deno's functions",
    make: "Deno.readTextFileSync = () => 'mine';",
    look: "return Deno.readTextFileSync('note.txt');",
    sees: "hello",
  },
  { what: "the current folder", make: "Deno.chdir('sub');", look: "return Deno.cwd();", sees: "/workspace" },
  {
    what: "a module of Node's",
    make: "import fs from 'node:fs'; fs.readFileSync = () => 'mine';",
    look: "import fs, { readFileSync } from 'node:fs'; return [fs.readFileSync('note.txt', 'utf8'), readFileSync('note.txt', 'utf8')];",
    sees: ["hello", "hello"],
  },
  {
    what: "a class of Node's",
    make: "import { EventEmitter } from 'node:events'; EventEmitter.prototype.emit = () => 'mine';",
    look: "import { EventEmitter } from 'node:events'; return new EventEmitter().emit('x');",
    sees: false,
  },
  {
    what: "listeners of the process, its environment and exit code",
    make: "process.on('exit', () => {}); process.env.MARK = '1'; process.exitCode = 7;",
    look: "return [process.listenerCount('exit'), String(process.env.MARK), String(process.exitCode)];",
    sees: [0, "undefined", "undefined"],
  },
  {
    what: "listeners of the global object",
    make: "globalThis.addEventListener('late', () => console.log('heard'));",
    look: "globalThis.dispatchEvent(new Event('late')); return 'said';",
    sees: "said",
  },
  {
    what: "marks in time",
    make: "performance.mark('mine');",
    look: "return performance.getEntriesByName('mine').length;",
    sees: 0,
  },
  {
    what: "counters of the console",
    make: "console.count('mine');",
    look: "console.count('mine'); return 1;",
    sees: 1,
  },
  {
    what: "memory of small buffers",
    make: "return Buffer.from('secret-canary').length;",
    look: "return new TextDecoder().decode(Buffer.from('q').buffer).includes('secret');",
    sees: false,
  },
  {
    what: "a timer",
    make: "setInterval(() => console.log('tick'), 1);",
    look: "await new Promise((resolve) => setTimeout(resolve, 20)); return 'quiet';",
    sees: "quiet",
  },
  {
    what: "what is cleaned up after a collected object",
    make: "globalThis.registry = new FinalizationRegistry(() => console.log('collected')); for (let i = 0; i < 1e4; i++) registry.register({ i }, i);",
    look: "const all = []; for (let i = 0; i < 2e5; i++) all.push({ i }); await new Promise((resolve) => setTimeout(resolve, 20)); return all.length;",
    sees: 200_000,
  },
  {
    what: "a call under way",
    make: "import { callTool } from 'cem:client'; void callTool('host', 'slow', {});",
    look: "import { callTool } from 'cem:client'; return await callTool('host', 'echo', 5);",
    sees: 5,
  },
  {
    what: "state of a tool's module",
    make: "import { count } from './servers/counter/index.ts'; count(); return count();",
    look: "import { count } from './servers/counter/index.ts'; return count();",
    sees: 1,
  },
];

/** What can't be confined to a run: the guest is replaced after it. */
const UNCONFINED: [string, string][] = [
  [
    "a thread",
    "new Worker(URL.createObjectURL(new Blob([''], { type: 'text/javascript' })), { type: 'module' });",
  ],
  ["storage", "try { localStorage.setItem('k', 'v'); } catch {}"],
  ["an open file", "Deno.openSync('note.txt');"],
  ["an open file of Node's", "import fs from 'node:fs'; fs.openSync('note.txt');"],
  ["a handle of Node's", "import { open } from 'node:fs/promises'; await open('note.txt');"],
  ["a handle by the other way", "import { promises } from 'node:fs'; await promises.open('note.txt');"],
  [
    "a module loader",
    "import { createRequire } from 'node:module'; createRequire('file:///workspace/x.js');",
  ],
];

const WALK = `import * as client from "cem:client";
import fs from "node:fs";
import * as path from "node:path";
import util from "node:util";
import events from "node:events";
import { Buffer } from "node:buffer";
import * as tools from "./servers/calculator/index.ts";
const errors = [];
for (const fail of [() => fs.readFileSync("missing"), () => Deno.readTextFileSync("missing"), () => new URL("x")]) { try { fail(); } catch (error) { errors.push(error); } }
const instances = [new URL("http://a/"), new Response("x"), new AbortController(), fs.statSync("note.txt"), new ReadableStream(), Buffer.from("x"), ...errors];
const queue = [globalThis, client, fs, path, util, events, Buffer, tools, instances];
const seen = new Set(); const foreign = []; const marked = [];
const root = Object.prototype; const mark = Symbol.for("cem contract mark");
while (queue.length > 0) {
  const value = queue.pop();
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
  seen.add(value);
  let last; for (let next = Reflect.getPrototypeOf(value); next !== null; next = Reflect.getPrototypeOf(next)) last = next;
  if (last !== undefined && last !== root) foreign.push(String(value).slice(0, 80));
  if (Object.hasOwn(value, mark)) marked.push(String(value).slice(0, 80));
  queue.push(Reflect.getPrototypeOf(value));
  for (const key of Reflect.ownKeys(value)) {
    if (/^(?:Worker|localStorage|sessionStorage|caches|indexedDB)$/.test(String(key))) continue;
    const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
    queue.push(descriptor?.get, descriptor?.set);
    try { queue.push(Reflect.get(value, key)); } catch (error) { queue.push(error); }
  }
}
for (const value of seen) { try { Object.defineProperty(value, mark, { value: 1 }); } catch {} }
return { many: seen.size > 5000, foreign, marked };`;

/** Runs of one session share a guest, and nothing else. */
export function realmsContract(makeProvider: () => SandboxProvider): void {
  let harness: Harness;
  const invoker = recordingInvoker(({ tool, args }) => (tool === "slow" ? new Promise(() => {}) : args));
  const run = async (code: string): Promise<RunOutcome> => {
    const outcome = await harness.run(code, { invoker });
    // The guest is taken back, or given up, right after the outcome.
    await until(() => (harness.sandbox.stats?.().taken ?? 0) === 0);
    return outcome;
  };
  const reused = (): number => harness.sandbox.stats?.().reused ?? 0;

  beforeAll(async () => {
    harness = await Harness.make(makeProvider(), TOOL_FILES, { defaultSession: SESSION });
    mkdirSync(join(harness.workspace, "sub"));
    mkdirSync(join(harness.workspace, "servers/counter"));
    writeFileSync(join(harness.workspace, "note.txt"), "hello");
    const counter = "let calls = 0;\nexport function count() { return ++calls; }\n";
    writeFileSync(join(harness.workspace, "servers/counter/index.ts"), counter);
  });
  afterAll(() => harness.dispose());

  const changes = CHANGES.map(({ what, make, look, sees }) => [what, make, look, sees] as const);
  it.each(changes)("what is changed in one run is not in the next: %s", async (_, make, look, sees) => {
    expect(await run(make)).toMatchObject({ status: "completed" });
    const before = reused();
    const outcome = await run(look);
    expect(outcome).toMatchObject({ status: "completed", value: sees });
    expect(outcome.output).not.toMatch(/heard|tick|collected|mine: 2/);
    expect(reused()).toBe(before + 1);
  });

  it.each(UNCONFINED)("a run that leaves %s has the last of its guest", async (_, make) => {
    await run(make);
    const before = reused();
    expect(await run("return 1;")).toMatchObject({ value: 1 });
    expect(reused()).toBe(before);
  });

  it("gives a program nothing that another run can reach", async () => {
    for (let index = 0; index < 2; index += 1) {
      expect(await run(WALK)).toMatchObject({ value: { many: true, foreign: [], marked: [] } });
    }
  });

  it("hears nothing of a run that is over", async () => {
    const late = "setTimeout(() => Promise.reject(new Error('second')), 5);\nthrow new Error('first');";
    expect(await run(late)).toMatchObject({ status: "failed", error: { message: "first" } });
    const next = "await new Promise((resolve) => setTimeout(resolve, 30)); return 'next';";
    expect(await run(next)).toMatchObject({ status: "completed", value: "next" });
  });

  it("gives errors of the runtime as errors of the program's own language", async () => {
    const code = `import fs from "node:fs";
const found = [];
const ways = [() => fs.readFileSync("missing"), () => Deno.readTextFileSync("missing"), () => new URL("x"), () => structuredClone(() => {}), () => fetch("http://127.0.0.1:1")];
for (const way of ways) { try { await way(); } catch (error) { found.push([error instanceof Error, Object.getPrototypeOf(error.constructor) !== null]); } }
return found;`;
    expect(await run(code)).toMatchObject({ value: Array.from({ length: 5 }, () => [true, true]) });
  });
}

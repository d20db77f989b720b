import { describe, expect, it } from "vitest";
import type { Harness } from "./harness.ts";

type Program = [name: string, code: string, value: unknown];

const ERRORS: Program[] = [
  [
    "of Node's files",
    `import fs from "node:fs"; import { readFile } from "node:fs/promises";
const thrown: any[] = [];
try { fs.readFileSync("/workspace/none"); } catch (error) { thrown.push(error); }
await readFile("/workspace/none").catch((error) => thrown.push(error));
await new Promise<void>((go) => fs.readFile("/workspace/none", (error) => { thrown.push(error); go(); }));
return thrown.map((error) => [error instanceof Error, error.constructor === Error, error.code, error.errno, error.path.endsWith("/none")]);`,
    Array.from({ length: 3 }, () => [true, true, "ENOENT", -2, true]),
  ],
  [
    "of Deno",
    `try { Deno.readTextFileSync("none"); } catch (error) { return [error instanceof Error, error instanceof Deno.errors.NotFound, error.constructor === Deno.errors.NotFound, error.name, error.code]; }`,
    [true, true, true, "NotFound", "ENOENT"],
  ],
  [
    "of the web",
    `const thrown: any[] = [];
for (const action of [() => new URL("x"), () => atob("*"), () => AbortSignal.abort().throwIfAborted()]) try { action(); } catch (error) { thrown.push(error); }
return thrown.map((error) => [error instanceof Error, error instanceof TypeError, error instanceof DOMException, error.name]);`,
    [
      [true, true, false, "TypeError"],
      [true, false, true, "InvalidCharacterError"],
      [true, false, true, "AbortError"],
    ],
  ],
  [
    "of Node's arguments",
    `try { Buffer.alloc("x" as never); } catch (error) { return [error instanceof TypeError, error.name, error.code]; }`,
    [true, "TypeError", "ERR_INVALID_ARG_TYPE"],
  ],
  [
    "that the program itself gave",
    `import { Readable } from "node:stream"; import { EventEmitter } from "node:events";
const mine = new RangeError("mine"); const found: unknown[] = [];
const controller = new AbortController(); controller.abort(mine); found.push(controller.signal.reason === mine);
try { new EventEmitter().emit("error", mine); } catch (error) { found.push(error === mine); }
try { for await (const _ of new Readable({ read() { this.destroy(mine); } })); } catch (error) { found.push(error === mine); }
return found;`,
    [true, true, true],
  ],
];

const BYTES: Program[] = [
  [
    "as typed arrays and buffers",
    `const bytes = new TextEncoder().encode("héllo"); const buffer = Buffer.from(bytes);
return [bytes instanceof Uint8Array, bytes.buffer instanceof ArrayBuffer, buffer instanceof Buffer, Buffer.isBuffer(buffer), buffer.subarray(1) instanceof Buffer, buffer.map((one) => one) instanceof Buffer,
  buffer.toString("hex"), Buffer.concat([buffer, Buffer.from("!")]).toString(), JSON.stringify(Buffer.from("a")), buffer.equals(bytes), [...Buffer.from("ab").entries()]];`,
    [
      true,
      true,
      true,
      true,
      true,
      true,
      "68c3a96c6c6f",
      "héllo!",
      `{"type":"Buffer","data":[97]}`,
      true,
      [
        [0, 97],
        [1, 98],
      ],
    ],
  ],
  [
    "that are written in place",
    `import fs from "node:fs"; fs.writeFileSync("bytes.bin", Buffer.from([1, 2, 3, 4]));
const into = new Uint8Array(4); const file = fs.openSync("bytes.bin"); fs.readSync(file, into); fs.closeSync(file);
using own = Deno.openSync("bytes.bin"); const again = Buffer.alloc(2); own.readSync(again);
const handle = await fs.promises.open("bytes.bin"); const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0); await handle.close();
const random = new Uint32Array(2);
return [[...into], [...again], bytesRead, [...buffer], crypto.getRandomValues(random) === random, new DataView(into.buffer).getUint16(0)];`,
    [[1, 2, 3, 4], [1, 2], 2, [1, 2], true, 258],
  ],
  [
    "digested, encrypted and compressed",
    `import { createHash, createCipheriv, createDecipheriv } from "node:crypto"; import zlib from "node:zlib";
const [key, start] = [Buffer.alloc(32, 1), Buffer.alloc(16, 2)]; const cipher = createCipheriv("aes-256-cbc", key, start);
const secret = Buffer.concat([cipher.update("secret"), cipher.final()]); const decipher = createDecipheriv("aes-256-cbc", key, start);
const packed = new Blob(["hello".repeat(50)]).stream().pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"));
return [createHash("sha256").update("a").digest("hex").slice(0, 8), Buffer.concat([decipher.update(secret), decipher.final()]).toString(), zlib.gunzipSync(zlib.gzipSync("hello")).toString(),
  (await new Response(packed).text()).length, (await crypto.subtle.digest("SHA-256", new Uint8Array(1))).byteLength];`,
    ["ca978112", "secret", "hello", 250, 32],
  ],
  [
    "cloned and moved",
    `const source: any = { date: new Date(0), map: new Map([[1, new Set([2])]]), bytes: new Uint8Array([1]), error: new RangeError("r"), list: [1, , 3], pattern: /x/g }; source.self = source;
const clone = structuredClone(source); const moved = new ArrayBuffer(4); const other = structuredClone(moved, { transfer: [moved] });
return [clone.self === clone, clone.date instanceof Date, clone.map.get(1) instanceof Set, clone.bytes instanceof Uint8Array, clone.error instanceof RangeError, 1 in clone.list, clone.pattern instanceof RegExp, moved.byteLength, other.byteLength];`,
    [true, true, true, true, true, false, true, 0, 4],
  ],
];

const STREAMS: Program[] = [
  [
    "of Node's, with classes of the program",
    `import { Readable, Transform, Writable } from "node:stream"; import { pipeline } from "node:stream/promises";
const got: string[] = []; class Upper extends Transform { _transform(chunk: Buffer, _: string, done: Function) { done(null, String(chunk).toUpperCase()); } }
class Numbers extends Readable { n = 0; _read() { this.push(this.n < 3 ? { n: this.n++ } : null); } }
await pipeline(Readable.from(["a", "b"]), new Upper(), new Writable({ write(chunk, _, done) { got.push(String(chunk)); done(); } }));
const numbers: number[] = []; for await (const { n } of new Numbers({ objectMode: true })) numbers.push(n);
return [got, numbers, new Upper() instanceof Transform, new Upper() instanceof Upper, await Readable.from([1, 2, 3]).filter((n) => n > 1).toArray()];`,
    [["A", "B"], [0, 1, 2], true, true, [2, 3]],
  ],
  [
    "of the web",
    `const pulled: number[] = []; const numbers = new ReadableStream({ pull(to) { to.enqueue(pulled.push(1)); if (pulled.length > 2) to.close(); } });
const doubled: unknown[] = []; for await (const one of numbers.pipeThrough(new TransformStream({ transform(n, to) { to.enqueue({ n: n * 2 }); } }))) doubled.push(one);
let text = ""; for await (const part of new Blob(["é漢"]).stream().pipeThrough(new TextDecoderStream())) text += part;
const written: unknown[] = []; const writer = new WritableStream({ write(one) { written.push(one); } }).getWriter(); await writer.write({ a: 1 }); await writer.close();
return [doubled, text, written];`,
    [[{ n: 2 }, { n: 4 }, { n: 6 }], "é漢", [{ a: 1 }]],
  ],
  [
    "of files, by lines",
    `import { createReadStream, createWriteStream, writeFileSync } from "node:fs"; import { createInterface } from "node:readline"; import { finished } from "node:stream/promises";
writeFileSync("lines.txt", "one\\ntwo\\n"); const lines: string[] = []; for await (const line of createInterface({ input: createReadStream("lines.txt") })) lines.push(line);
const to = createWriteStream("copy.txt"); to.write("1"); to.end("2"); await finished(to);
let text = ""; using file = await Deno.open("copy.txt"); for await (const part of file.readable.pipeThrough(new TextDecoderStream())) text += part;
return [lines, text];`,
    [["one", "two"], "12"],
  ],
];

const WEB: Program[] = [
  [
    "requests, responses and their parts",
    `const response = await fetch("data:application/json,%7B%22a%22:1%7D"); const form = new FormData(); form.append("file", new Blob(["x"]), "n.txt");
const file = form.get("file") as File; const headers = new Headers({ a: "1" }); headers.append("a", "2");
const url = new URL("http://h/p?q=1"); url.searchParams.append("z", "2"); class Own extends URL { get q() { return this.searchParams.get("q"); } }
return [response instanceof Response, await response.json(), file instanceof File, file.name, await file.text(), [...headers], url.href, JSON.stringify(url), new Own(url).q, new Own(url) instanceof URL,
  new URLPattern({ pathname: "/a/:id" }).exec("http://x/a/5")?.pathname.groups["id"], await new Request("http://h/", { method: "POST", body: "b" }).text()];`,
    [
      true,
      { a: 1 },
      true,
      "n.txt",
      "x",
      [["a", "1, 2"]].map((pair) => pair),
      "http://h/p?q=1&z=2",
      `"http://h/p?q=1&z=2"`,
      "1",
      true,
      "5",
      "b",
    ],
  ],
  [
    "events and signals",
    `class Own extends Event { constructor(readonly n: number) { super("own", { cancelable: true }); } }
const seen: unknown[] = []; const target = new EventTarget(); target.addEventListener("own", (event) => { seen.push(event instanceof Own, (event as Own).n, event.target === target); event.preventDefault(); });
seen.push(target.dispatchEvent(new Own(3))); addEventListener("x", (event) => seen.push(event.target === globalThis)); dispatchEvent(new Event("x"));
const controller = new AbortController(); const any = AbortSignal.any([controller.signal, AbortSignal.timeout(60_000)]); any.onabort = () => seen.push("aborted"); controller.abort("why");
const soon = AbortSignal.timeout(1); await new Promise((go) => soon.addEventListener("abort", go));
return [...seen, any.reason, soon.reason.name];`,
    [true, 3, true, false, true, "aborted", "why", "TimeoutError"],
  ],
  [
    "messages between ports",
    `const { port1, port2 } = new MessageChannel(); const got = new Promise<any>((go) => { port2.onmessage = (event) => go(event.data); });
port1.postMessage({ list: [1], map: new Map([[1, 2]]) }); const data = await got; port1.close(); port2.close(); return [data.list, data.map instanceof Map, data.map.get(1)];`,
    [[1], true, 2],
  ],
  [
    "WebAssembly, as bytes and from a response",
    `const bytes = new Uint8Array([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);
const { instance } = await WebAssembly.instantiate(bytes); const streamed = await WebAssembly.compileStreaming(new Response(bytes, { headers: { "content-type": "application/wasm" } }));
return [(instance.exports as any).add(2, 3), streamed instanceof WebAssembly.Module];`,
    [5, true],
  ],
  [
    "dates and numbers of the world",
    `return [Temporal.PlainDate.from("2024-01-02").add({ days: 1 }).toString(), new Date(0).toTemporalInstant().toString(), new Intl.NumberFormat("de-DE").format(1234.5)];`,
    ["2024-01-03", "1970-01-01T00:00:00Z", "1.234,5"],
  ],
];

const NODE: Program[] = [
  [
    "emitters, also of older programs",
    `import { EventEmitter, once, on } from "node:events"; import util from "node:util";
class Store extends EventEmitter { items: string[] = []; #secret = 4; add(item: string) { this.items.push(item); this.emit("add", item, this); return this; } get secret() { return this.#secret; } }
const store = new Store(); const seen: unknown[] = []; store.on("add", function (item, self) { seen.push(item, self === store, this === store); }); store.add("a");
function Old(this: any) { EventEmitter.call(this); } util.inherits(Old as never, EventEmitter); const old = new (Old as any)(); old.on("x", (n: number) => seen.push(n)); old.emit("x", 5);
setTimeout(() => store.emit("later", { a: 1 }), 1); const [later] = await once(store, "later");
setTimeout(() => { store.emit("many", 1); store.emit("many", 2); }, 1); for await (const [n] of on(store, "many")) { seen.push(n); if (n === 2) break; }
return [...seen, later, store.secret, store instanceof EventEmitter, old instanceof EventEmitter, store.listenerCount("add")];`,
    ["a", true, true, 5, 1, 2, { a: 1 }, 4, true, true, 1],
  ],
  [
    "util and assert",
    `import util, { promisify, types } from "node:util"; import assert from "node:assert"; import fs from "node:fs";
class A { constructor(readonly x: number) {} } const fails = (action: () => void) => { try { action(); return "passed"; } catch (error) { return [error instanceof assert.AssertionError, error.code]; } };
await promisify(setTimeout)(1);
return [(await promisify(fs.readFile)("note.txt", "utf8")).trim(), util.inspect({ a: { b: { c: {} } } }), util.format("%s %d %j", "a", 1, { b: 2 }), util.inspect(new (class { [util.inspect.custom]() { return "own"; } })()),
  types.isPromise(Promise.resolve()), types.isProxy(new Proxy({}, {})), util.isDeepStrictEqual(new A(1), new A(2)), fails(() => assert.deepStrictEqual(new A(1), new A(2))), fails(() => assert.deepStrictEqual({ a: [1] }, { a: [1] })),
  fails(() => assert.throws(() => { throw new TypeError("x"); }, TypeError)), await promisify((n: number, done: Function) => done(null, n + 1))(1)];`,
    [
      "hello",
      "{ a: { b: { c: {} } } }",
      `a 1 {"b":2}`,
      "own",
      true,
      true,
      false,
      [true, "ERR_ASSERTION"],
      "passed",
      "passed",
      2,
    ],
  ],
  [
    "timers",
    `import { setTimeout as sleep, setInterval as every } from "node:timers/promises"; const order: string[] = [];
setTimeout((a: number, b: any) => order.push("timer" + a + b.x), 1, 1, { x: 2 }); setImmediate(() => order.push("immediate")); queueMicrotask(() => order.push("microtask")); process.nextTick(() => order.push("tick"));
clearTimeout(setTimeout(() => order.push("never"), 1)); const again = setInterval(() => { order.push("interval"); clearInterval(again); }, 2); await sleep(30);
let refused = ""; try { setTimeout(undefined as never, 1); } catch (error) { refused = error.code; }
const ticks: string[] = []; for await (const tick of every(1, "tick")) if (ticks.push(tick) === 2) break;
const timer = setTimeout(() => order.push("closed"), 1); const states = [timer.hasRef(), timer.unref().hasRef(), timer.ref().hasRef(), timer.close().hasRef()];
let fired = 0; const restarted = setTimeout(() => { if (++fired < 3) restarted.refresh(); }, 2); restarted.refresh(); timer.refresh(); await sleep(30); clearTimeout(restarted); restarted.refresh();
{ using gone = setTimeout(() => order.push("gone"), 1); } addEventListener("none", () => {}); await sleep(10);
return [order.toSorted(), refused, ticks, states, fired];`,
    [
      ["immediate", "interval", "microtask", "tick", "timer12"],
      "ERR_INVALID_ARG_TYPE",
      ["tick", "tick"],
      [true, false, true, false],
      3,
    ],
  ],
  [
    "SQLite",
    `import { DatabaseSync } from "node:sqlite"; const db = new DatabaseSync(":memory:"); db.exec("CREATE TABLE t(a INTEGER, b TEXT, c BLOB)"); db.prepare("INSERT INTO t VALUES (?, ?, ?)").run(1, "x", new Uint8Array([1])); db.function("twice", (n: number) => n * 2);
const [row] = db.prepare("SELECT * FROM t").all() as any[]; let refused = false; try { db.exec("NOPE"); } catch (error) { refused = error instanceof Error; }
return [row.a, row.b, row.c instanceof Uint8Array, db.prepare("SELECT twice(:n) v").get({ n: 4 })?.v, refused];`,
    [1, "x", true, 8, true],
  ],
  [
    "paths, the system and the process",
    `import path from "node:path"; import os from "node:os"; import url from "node:url"; import qs from "node:querystring"; let heard = 0; process.once("x", () => (heard += 1)); process.emit("x"); process.emit("x"); process.exitCode = 4; const set = process.exitCode; process.exitCode = 0;
return [path.join("a", "..", "b"), path.posix.sep, os.EOL, url.fileURLToPath("file:///a/b"), qs.stringify({ a: [1, 2] }), process.cwd(), heard, set, typeof process.hrtime.bigint(), process.argv.length > 0, Object.prototype.toString.call(process)];`,
    ["b", "/", "\n", "/a/b", "a=1&a=2", "/workspace", 1, 4, "bigint", true, "[object process]"],
  ],
  [
    "files in the folder for temporary ones",
    `import fs from "node:fs"; import os, { tmpdir } from "node:os"; import path from "node:path"; const folder = fs.mkdtempSync(path.join(tmpdir(), "own-")); fs.writeFileSync(path.join(folder, "a"), "1");
return [os.tmpdir(), fs.readdirSync(folder)];`,
    ["/workspace/tmp", ["a"]],
  ],
  [
    "files and their states",
    `import fs from "node:fs"; const state = fs.statSync("note.txt"); const entry = fs.readdirSync(".", { withFileTypes: true }).find(({ name }) => name === "note.txt"); const own = Deno.statSync("note.txt");
return [state.isFile(), state.size, state.mtime instanceof Date, state instanceof fs.Stats, entry?.isFile(), own.isFile, own.mtime instanceof Date, fs.readFileSync(new URL("file:///workspace/note.txt")) instanceof Buffer, Array.isArray(fs.readdirSync("."))];`,
    [true, 6, true, true, true, true, true, true, true],
  ],
  [
    "require and modules",
    `import { createRequire } from "node:module"; import data from "./data.json" with { type: "json" }; const require = createRequire(import.meta.url);
const made = await import("data:text/javascript,export default import.meta.url.slice(0, 5)"); const skill = await import("./skills/double_number/index.ts");
return [require("node:path").join("a", "b"), data, made.default, skill.double(2), import.meta.filename, import.meta.dirname];`,
    ["a/b", { a: [1] }, "data:", 4, "/workspace/program.ts", "/workspace"],
  ],
];

const TYPESCRIPT: Program[] = [
  [
    "enums and parameter properties",
    `enum Level { Low = 1, High }\nclass Point { constructor(readonly a: number, private b = 2) {} sum() { return this.a + this.b; } }\nreturn [Level.High, Level[1], new Point(3).sum()];`,
    [2, "Low", 5],
  ],
  [
    "tools that import types by name",
    `import { Kind, kindOf } from "./servers/typed/index.ts";\nconst kind: Kind = { name: "x" };\nreturn kindOf(kind);`,
    "x",
  ],
  [
    "what is disposed of",
    `const log: string[] = []; { using one = { [Symbol.dispose]() { log.push("sync"); } }; await using two = { async [Symbol.asyncDispose]() { log.push("async"); } }; } return log;`,
    ["async", "sync"],
  ],
  [
    "code made of text",
    `return [eval("1 + 1"), new Function("a", "return a * 2")(4), (0, eval)("typeof Deno")];`,
    [2, 8, "object"],
  ],
];

/** Files that the programs use. */
export const RUNTIME_FILES: Record<string, string> = {
  "note.txt": "hello\n",
  "data.json": `{"a":[1]}`,
  "servers/typed/types.ts": `export interface Kind { name: string }\n`,
  "servers/typed/index.ts": `export { kindOf } from "./kind-of.ts";\nexport type { Kind } from "./types.ts";\n`,
  "servers/typed/kind-of.ts": `import { Kind } from "./types.ts";\nexport function kindOf(kind: Kind): string { return kind.name; }\n`,
};

/** Contract tests: the language and the runtime, as programs know them from elsewhere. */
export function runtimeContract(harness: () => Harness): void {
  const itRuns = (programs: readonly Program[]): void => {
    it.each(programs)("%s", async (_, code, value) => {
      expect(await harness().value(code)).toEqual(value);
    });
  };
  describe("errors", () => {
    itRuns(ERRORS);
  });
  describe("bytes", () => {
    itRuns(BYTES);
  });
  describe("streams", () => {
    itRuns(STREAMS);
  });
  describe("web", () => {
    itRuns(WEB);
  });
  describe("Node's modules", () => {
    itRuns(NODE);
  });
  describe("TypeScript", () => {
    itRuns(TYPESCRIPT);
  });

  it("tells the right line below an enum, and below what looks like the address of a source map", async () => {
    const code = `enum Level { Low = 1, High }\nclass Point { constructor(readonly a: number) {} }\nconst z = \`1\n//# sourceMappingURL=x\`;\nthrow new Error("here " + Level.Low + z[0]);`;
    expect(await harness().run(code)).toMatchObject({
      status: "failed",
      error: { message: "here 11", line: 5 },
    });
  });

  it("has standard input that has ended, and databases in memory", async () => {
    const code = `import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { add } from "./servers/calculator/index.ts";
const database = new DatabaseSync(":memory:"); database.exec("create table t (a)"); database.close();
let read = readFileSync(0, "utf8") + (await Deno.stdin.read(new Uint8Array(9)));
for await (const part of process.stdin) read += part;
let isThere = false; for (const { name } of Deno.readDirSync(".")) isThere ||= name.includes("memory");
return [read, isThere, await add({ a: 1, b: 2 })];`;
    expect(await harness().run(code)).toMatchObject({ value: ["null", false, expect.anything()] });
  });

  it("tells the program's line for what the runtime throws", async () => {
    const code = `import fs from "node:fs";\n\nfs.readFileSync("/workspace/none");`;
    expect(await harness().run(code)).toMatchObject({ error: { line: 3, column: 4 } });
    expect(await harness().run("const x = 1;\nDeno.readTextFileSync('none');")).toMatchObject({
      error: { line: 2 },
    });
  });

  it("prints what the runtime makes, also within other objects, without lines of the runner", async () => {
    const code = `import { EventEmitter } from "node:events"; class Store extends EventEmitter { items = [1]; }
console.log(new URL("http://a/").host, { headers: new Headers({ a: "1" }), signal: [AbortSignal.abort(1)], own: new Store(), bytes: Buffer.from("a") });
console.log(new Error("told")); console.error("err"); process.stdout.write("out\\n"); console.table([{ a: 1 }]);`;
    const { output } = await harness().run(code);
    const signal = "[AbortSignal { aborted: true, reason: 1, onabort: null }]";
    const own = `"items":[1]},"bytes":Uint8Array(1) [97]`;
    expect(output).toContain(`a {"headers":Headers { a: "1" },"signal":${signal},"own":Store {`);
    expect(output).toContain(`${own}}\n`);
    expect(output.match(/Error: told\n((?: +at .*\n)+)/)?.[1]?.split("\n").length).toBe(2);
    expect(output).toMatch(/err\nout\n┌/);
  });
}

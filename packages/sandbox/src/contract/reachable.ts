import type { SandboxProvider } from "@cem/core";
import { describe, expect, it } from "vitest";
import { recordingInvoker } from "./harness.ts";
import { SessionHarness } from "./sessions.ts";

/** Modules and instances from which a program can go on. */
const START = `import * as client from "cem:client";
import * as tools from "./servers/counter/index.ts";
import * as assert from "node:assert"; import * as buffer from "node:buffer"; import * as console2 from "node:console"; import * as crypto2 from "node:crypto";
import * as events from "node:events"; import * as fs from "node:fs"; import * as promises from "node:fs/promises"; import * as os from "node:os";
import * as path from "node:path"; import * as perf from "node:perf_hooks"; import * as process2 from "node:process"; import * as readline from "node:readline";
import * as stream from "node:stream"; import * as streamPromises from "node:stream/promises"; import * as timers from "node:timers"; import * as later from "node:timers/promises";
import * as url from "node:url"; import * as util from "node:util"; import * as zlib from "node:zlib";
const thrown = (action) => { try { action(); } catch (error) { return error; } };
const emitter = new events.EventEmitter(); let self; emitter.on("x", function () { self = this; }); emitter.emit("x");
const { port1, port2 } = new MessageChannel(); port1.close();
const instances = {
  url: new URL("http://a/b?c#d"), response: new Response("x"), request: new Request("http://a/"), headers: new Headers({ a: "1" }), form: new FormData(), blob: new Blob(["x"]),
  signal: AbortSignal.abort(), controller: new AbortController(), event: new Event("x"), reader: new ReadableStream().getReader(), read: await new Blob(["x"]).stream().getReader().read(),
  stats: fs.statSync("note.txt"), entries: fs.readdirSync(".", { withFileTypes: true }), deno: Deno.statSync("note.txt"), bytes: fs.readFileSync("note.txt"), encoded: new TextEncoder().encode("x"),
  timer: setTimeout(() => {}, 0), hash: crypto2.createHash("sha256"), readable: stream.Readable.from([1]), iterator: stream.Readable.from([1])[Symbol.asyncIterator](), pairs: new Headers({ a: "1" }).entries(),
  pattern: new URLPattern({ pathname: "/:a" }).exec("http://x/1"), date: Temporal.PlainDate.from("2020-01-01"), performance: performance.mark("x"), promise: Deno.readTextFile("note.txt"), clone: structuredClone({ m: new Map([[1, { a: new Date(0) }]]) }),
  fsError: thrown(() => fs.readFileSync("none")), denoError: thrown(() => Deno.readTextFileSync("none")), urlError: thrown(() => new URL("x")), domError: thrown(() => atob("*")), assertion: thrown(() => assert.equal(1, 2)),
  rejected: await promises.readFile("none").catch((error) => error), imported: await import("./none.ts").catch((error) => error), tool: await client.callTool("h", "fail").catch((error) => error), result: await client.callTool("h", "t", { a: [1] }),
  promisified: util.promisify(fs.readFile), bound: fs.readFileSync.bind(null), emitter, self, port1, meta: import.meta,
  subclass: new (class extends stream.Transform {})(), subUrl: new (class extends URL {})("a:b"),
};
const modules = { client, tools, assert, buffer, console2, crypto2, events, fs, promises, os, path, perf, process2, readline, stream, streamPromises, timers, later, url, util, zlib };
`;

/** Visits every reachable object, except globals whose use retires the guest. */
const WALK = `const seen = new Set(); const open = [[globalThis, "globalThis"], [modules, "modules"], [instances, "instances"]]; const found = [];
const skipped = /^(?:Worker|localStorage|sessionStorage|caches|indexedDB)$/;
const rootOf = (value) => { let root = value; for (let next = Object.getPrototypeOf(value); next !== null; next = Object.getPrototypeOf(next)) root = next; return root; };
while (open.length > 0) {
  const [value, at] = open.pop();
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
  seen.add(value);
  visit(value, at);
  open.push([Object.getPrototypeOf(value), at + ".__proto__"]);
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === "string" && skipped.test(key)) continue;
    const { value: member, get, set } = Object.getOwnPropertyDescriptor(value, key) ?? {};
    open.push([get, at + ".get " + String(key)], [set, at + ".set " + String(key)]);
    let read = member;
    if (get !== undefined) try { read = value[key]; } catch (error) { read = error; }
    if (read instanceof Promise) read.catch(() => {});
    open.push([read, at + "." + String(key)]);
  }
}
return [seen.size > 3_000, found.slice(0, 20)];
`;

const FOREIGN = `function visit(value, at) {
  const root = rootOf(value);
  if (root !== Object.prototype && root !== value) found.push(at);
  if (typeof value === "function" && value !== Function.prototype && !(value instanceof Function)) found.push("function " + at);
}
`;
const MARK = `function visit(value) {
  try { value.walked = 1; } catch {}
  try { Object.defineProperty(value, "defined", { value: 1, configurable: true }); } catch {}
}
`;
const FIND = `function visit(value, at) {
  if (Object.hasOwn(value, "walked") || Object.hasOwn(value, "defined")) found.push(at);
}
`;

/** Contract tests: programs reach no object of another realm, and nothing that an earlier run could change. */
export function reachableContract(makeProvider: () => SandboxProvider, files: Record<string, string>): void {
  const invoker = recordingInvoker(({ args }) => args);
  const withSession = (use: (session: SessionHarness) => Promise<void>) =>
    SessionHarness.with(makeProvider, files, use);
  const walk = (session: SessionHarness, visit: string) =>
    session.run(`${START}${visit}${WALK}`, { invoker });

  describe("can reach", () => {
    it(
      "objects of their own realm only",
      withSession(async (session) => {
        expect(await walk(session, FOREIGN)).toMatchObject({ status: "completed", value: [true, []] });
      }),
    );

    it(
      "nothing that an earlier one has changed",
      withSession(async (session) => {
        expect(await walk(session, MARK)).toMatchObject({ status: "completed", value: [true, []] });
        expect(await walk(session, FIND)).toMatchObject({ status: "completed", value: [true, []] });
        expect(session.stats().reused).toBe(1);
      }),
    );
  });
}

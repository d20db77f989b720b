import type { SandboxProvider } from "@cem/core";
import { describe, expect, it } from "vitest";
import { SessionHarness } from "./sessions.ts";

/** A way to get hold of what a program is not given. It calls `look` with whatever it finds. */
type Breakout = [name: string, code: string];

const BREAKOUTS: Breakout[] = [
  [
    "descriptors that inherit what the program defines",
    `for (const key of ["get", "set", "value", "writable", "configurable"]) Object.defineProperty(Object.prototype, key, { __proto__: null, configurable: true, get() { look(this); for (const one of Object.getOwnPropertyNames(this)) look(this[one]); return undefined; }, set(value) { look(value); } });
try { new URL("http://a/?b").searchParams.get("b"); Deno.errors.NotFound; process.platform; new (await import("node:events")).EventEmitter().on("x", () => {}).emit("x"); } catch (error) { look(error); }
for (const key of ["get", "set", "value", "writable", "configurable"]) delete Object.prototype[key];`,
  ],
  [
    "setters of arrays and objects",
    `for (let index = 0; index < 5; index++) for (const prototype of [Array.prototype, Object.prototype]) Object.defineProperty(prototype, index, { configurable: true, get() { return undefined; }, set(value) { look(this); look(value); } });
try { new Headers([["a", "b"]]); [...new Headers({ a: "1" })]; const { EventEmitter } = await import("node:events"); new EventEmitter().on("x", (...all) => look(all)).emit("x", 1, { a: [1] }); } catch (error) { look(error); }
for (let index = 0; index < 5; index++) for (const prototype of [Array.prototype, Object.prototype]) delete prototype[index];`,
  ],
  [
    "changed promises, iterators and errors",
    `const own = Promise.prototype.then; Promise.prototype.then = new Proxy(own, { apply(then, self, all) { look(self); look(all); for (const one of all) look(one); return Reflect.apply(then, self, all); } });
Object.defineProperty(Promise.prototype, "constructor", { configurable: true, get() { look(this); return class { static get [Symbol.species]() { return class { constructor(executor) { look(executor); executor((value) => look(value), (reason) => look(reason)); } }; } }; } });
Array.prototype[Symbol.iterator] = new Proxy(Array.prototype[Symbol.iterator], { apply(make, self, all) { look(self); look(all); return Reflect.apply(make, self, all); } });
for (const make of [() => import("./none.ts"), () => import("data:text/javascript,export default 1"), () => import("node:fs"), () => Deno.readTextFile("none")]) try { await make(); } catch (error) { look(error); }`,
  ],
  [
    "ways to print, and conversions",
    `const trap = () => new Proxy(function () { return ""; }, { apply(_, self, all) { look(self); look(all); for (const one of all) { look(one); if (typeof one === "object" && one !== null) for (const member of Object.values(one)) look(member); } return ""; }, construct(_, all) { look(all); return {}; } });
const util = await import("node:util"); const hostile = { [Symbol.for("Deno.customInspect")]: trap(), [Symbol.for("nodejs.util.inspect.custom")]: trap(), toString: trap(), toJSON: trap(), [Symbol.toPrimitive]: trap() };
for (const print of [() => console.log(hostile), () => console.log("%s %j %o", hostile, hostile, hostile), () => util.inspect(hostile), () => util.format("%s", hostile), () => Deno.inspect(hostile), () => console.table([hostile]), () => util.isDeepStrictEqual(hostile, hostile), () => console.log(new Error("x", { cause: hostile }))]) try { print(); } catch (error) { look(error); }`,
  ],
  [
    "proxies in place of values",
    `const trap = (name) => (...all) => { look(all); for (const one of all) look(one); return Reflect[name](...all); }; const handler = {}; for (const name of Object.getOwnPropertyNames(Reflect)) handler[name] = trap(name);
const made = (target) => new Proxy(target, handler); const call = made(function () { return made({ done: true }); });
for (const use of [() => structuredClone(made({ a: 1 })), () => structuredClone({ get a() { return call(); } }), () => structuredClone({}, { transfer: { [Symbol.iterator]: () => ({ next: call }) } }), () => console.log(made({ a: made([1]) })), () => new Headers(made({ a: "1" })), () => new URL(made(new String("http://a/"))), () => Buffer.from(made([1, 2])), () => new Blob(made(["x"])), () => setTimeout(call, 0), () => new Response("x", made({ status: 200 })), () => import(made({ toString: call })), () => import("./data.json", made({ with: made({ type: "json" }) }))]) try { await use(); } catch (error) { look(error); }
await new Promise((go) => setTimeout(go, 2));`,
  ],
  [
    "revoked proxies, detached and huge values",
    `const revoked = (target) => { const { proxy, revoke } = Proxy.revocable(target, {}); revoke(); return proxy; }; const detached = new Uint8Array(8); detached.buffer.transfer(); const sparse = []; sparse.length = 4_294_967_295;
for (const use of [() => new URL(revoked({})), () => console.log(revoked({})), () => structuredClone(revoked({})), () => clearTimeout(setTimeout(revoked(function () {}), 0)), () => fetch(revoked({})), () => new TextDecoder().decode(detached), () => Buffer.from(detached), () => crypto.getRandomValues(detached), () => new Blob([detached]), () => Deno.inspect(sparse), () => Buffer.from({ length: 1e3 }), () => new TextDecoder().decode(new Uint8Array(new SharedArrayBuffer(4)))]) try { await use(); } catch (error) { look(error); }`,
  ],
  [
    "a full stack",
    `const { EventEmitter } = await import("node:events"); const util = await import("node:util"); const emitter = new EventEmitter(); emitter.on("again", () => emitter.emit("again"));
const deep = (action) => { let left = 40; const down = () => { try { down(); } catch (error) { look(error); } if (left-- > 0) try { action(); } catch (error) { look(error); } }; down(); };
for (const action of [() => emitter.emit("x"), () => new URL("http://a/"), () => performance.now(), () => Buffer.from("x"), () => util.format("%s", {}), () => structuredClone({}), () => new Headers().get("a"), () => atob("*"), () => queueMicrotask(() => {}), () => new Response("x"), () => setTimeout(() => {}, 0)]) deep(action);
try { emitter.emit("again"); } catch (error) { look(error); }`,
  ],
  [
    "frames of a stack",
    `Error.prepareStackTrace = (_, sites) => { look(sites); for (const site of sites) { look(site); for (const name of ["getThis", "getFunction", "getEvalOrigin"]) look(site[name]?.()); } return ""; };
const { EventEmitter } = await import("node:events"); const { Readable } = await import("node:stream"); const raise = () => void new Error("x").stack; const emitter = new EventEmitter(); emitter.on("x", raise); emitter.emit("x");
for await (const _ of Readable.from([1]).map(raise)); console.log({ [Symbol.for("Deno.customInspect")]: raise }); structuredClone({ get a() { raise(); } }); await new Promise((go) => setTimeout(() => go(raise()), 0)); Error.prepareStackTrace = undefined;`,
  ],
  [
    "methods that override the runtime's",
    `const { Writable } = await import("node:stream"); class Own extends Writable { _write(...all) { look(this); for (const one of all) look(one); all[2](); } _construct(...all) { look(this); for (const one of all) look(one); all[0](); } } const own = new Own(); own.end("x"); await new Promise((go) => own.on("close", go));
class Address extends URL { get href() { look(this); return "http://b/"; } toString(...all) { look(all); return "http://c/"; } } new URL("/x", new Address("http://a/"));
class Target extends EventTarget { dispatchEvent(...all) { for (const one of all) look(one); return super.dispatchEvent(...all); } addEventListener(...all) { for (const one of all) look(one); return super.addEventListener(...all); } } new Target().addEventListener("x", look); AbortSignal.any([new AbortController().signal]);`,
  ],
  [
    "bytes with methods of the program",
    `const { default: fs } = await import("node:fs"); class Own extends Uint8Array { copy(...all) { for (const one of all) look(one); return 0; } equals(...all) { for (const one of all) look(one); return true; } toString(...all) { for (const one of all) look(one); return ""; } static get [Symbol.species]() { return class { constructor(...all) { for (const one of all) look(one); } }; } }
const own = new Own([1, 2, 3]); ArrayBuffer.prototype.slice = function (...all) { look(this); look(all); return new ArrayBuffer(0); };
for (const use of [() => Buffer.concat([own, own]), () => Buffer.from("abc").equals(own), () => Buffer.from("abc").copy(own), () => Buffer.compare(own, own), () => new TextDecoder().decode(own), () => Buffer.from("abc").indexOf(own), () => new Blob([own, own.buffer]), () => fs.writeFileSync("own.bin", own), () => { const file = fs.openSync("own.bin"); try { fs.readSync(file, own); } finally { fs.closeSync(file); } }, () => crypto.subtle.digest("SHA-1", own.buffer)]) try { await use(); } catch (error) { look(error); }`,
  ],
  [
    "iterators and what they give",
    `const { Readable } = await import("node:stream"); for (const one of [Readable.from([1])[Symbol.asyncIterator](), new Headers({ a: "1" }).entries(), new URLSearchParams("a=1")[Symbol.iterator](), new FormData().keys(), new Blob(["x"]).stream()[Symbol.asyncIterator]()]) { for (let next = one; next; next = Object.getPrototypeOf(next)) look(next); look(one.next); look(await one.next()); }`,
  ],
  [
    "the program's own start",
    `const given = typeof arguments === "undefined" ? [] : arguments; for (const one of given) { look(one); for (const member of Object.values(one)) look(member); }
for (const wrong of [null, 1, [null], [{ specifier: {} }], [{ specifier: "node:fs", names: [{ name: {} }] }], new Proxy([], { get: (_, key) => look(key) })]) try { look(await given[0]?.import(wrong)); } catch (error) { look(error); }`,
  ],
];

/** Whether an object is one of another realm. */
const FOREIGN = `const isForeign = (value) => { if ((typeof value !== "object" && typeof value !== "function") || value === null) return false; let root = value; try { for (let next = Object.getPrototypeOf(value); next !== null; next = Object.getPrototypeOf(next)) root = next; } catch { return false; } return root !== Object.prototype && root !== value; };
let found = 0;
`;
/** Leaves a mark on all that leads on from there. */
const MARK = `${FOREIGN}const objectPrototype = Object.prototype; function look(value) { if (!isForeign(value)) return;
for (let one = value; one !== null; one = Reflect.getPrototypeOf(one)) { for (const at of [one, one.constructor]) { try { at.leftMark = 1; } catch {} try { Reflect.defineProperty(at, "leftMark", { value: 1, configurable: true }); } catch {} } for (const key of Reflect.ownKeys(one)) try { const member = one[key]; if (typeof member === "function") member.leftMark = 1; } catch {} } }
`;
const CHECK = `${FOREIGN}function look(value) { if (!isForeign(value)) return;
for (let one = value; one !== null; one = Reflect.getPrototypeOf(one)) for (const at of [one, one.constructor]) if ((typeof at === "object" || typeof at === "function") && at !== null && Object.hasOwn(at, "leftMark")) found++; }
`;

/** Programs that try to leave something for a later run where only the runtime gets. */
export function breakoutsContract(makeProvider: () => SandboxProvider): void {
  const withSession = (use: (session: SessionHarness) => Promise<void>) =>
    SessionHarness.with(makeProvider, {}, use);

  describe("get hold of nothing that lasts", () => {
    for (const [name, code] of BREAKOUTS) {
      it(
        `by ${name}`,
        withSession(async (session) => {
          expect(await session.run(`${MARK}${code}\nreturn "marked";`)).toMatchObject({ value: "marked" });
          expect(await session.run(`${CHECK}${code}\nreturn found;`)).toMatchObject({ value: 0 });
          expect(session.stats().reused).toBe(1);
        }),
      );
    }

    it(
      "by what they throw",
      withSession(async (session) => {
        const hostile = `const trap = () => ({ toString: new Proxy(() => "", { apply(_, self, all) { look(self); look(all); return String(found); } }) });\nthrow { get message() { return trap(); }, get name() { return trap(); }, get stack() { return trap(); } };`;
        await session.run(`${MARK}${hostile}`);
        expect(await session.run(`${CHECK}${hostile}`)).toMatchObject({
          status: "failed",
          error: { message: "0" },
        });
        const revoked = "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;";
        expect(await session.run(revoked)).toMatchObject({ status: "failed", kind: "exception" });
        expect(session.stats().reused).toBe(2);
      }),
    );
  });
}

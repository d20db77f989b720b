import type { SandboxProvider } from "@cem/core";
import { describe, expect, it } from "vitest";
import { recordingInvoker } from "./harness.ts";
import { FIND_FOREIGN, START } from "./reachable.ts";
import { SessionHarness } from "./sessions.ts";

/** An attempt to reach objects that are withheld from programs. It calls `look` with whatever it finds. */
type Breakout = [name: string, code: string];

const BREAKOUTS: Breakout[] = [
  [
    "the runner's parameter by another spelling of its name",
    `if (typeof $c\\u0065m !== "undefined" || typeof $c\\u{65}mm !== "undefined") found.push("the parameter");`,
  ],
  [
    "the arguments of its own way to be printed",
    `const trap = function (...all) { look(this); for (const one of all) { look(one); if (typeof one === "object" && one !== null) for (const member of Object.values(one)) look(member); } return ""; };
const hostile = { [Symbol.for("Deno.customInspect")]: trap, [Symbol.for("Deno.privateCustomInspect")]: trap, [Symbol.for("nodejs.util.inspect.custom")]: trap, toString: trap, toJSON: trap, [Symbol.toPrimitive]: trap };
console.log(hostile); console.log("%s %j %o %d", hostile, hostile, hostile, hostile); console.error(new Error("x", { cause: hostile })); console.log(new (class { get [Symbol.toStringTag]() { return hostile; } })());`,
  ],
  [
    "a full stack",
    `const deep = (action) => { let left = 60; const down = () => { try { down(); } catch (error) { look(error); } if (left-- > 0) try { look(action()); } catch (error) { look(error); } }; down(); };
for (const action of [() => performance.now(), () => crypto.randomUUID(), () => queueMicrotask(() => {}), () => setTimeout(() => {}, 0), () => console.log("x"), () => callTool("h", "t", {}).catch(look)]) deep(action);
await new Promise((go) => setTimeout(go, 5));`,
  ],
  [
    "frames of a stack",
    `const prepare = (_, sites) => { look(sites); for (const site of sites) look(site); return ""; };
for (const on of [Error, TypeError, Object.getPrototypeOf(TypeError), Error.prototype, Object.prototype, Function.prototype]) try { on["prepare" + "StackTrace"] = prepare; } catch (error) { look(error); }
try { Object.defineProperty(Error, "prepare" + "StackTrace", { value: prepare }); } catch (error) { look(error); }
try { Error = { ["prepare" + "StackTrace"]: prepare }; } catch (error) { look(error); }
const raise = (_ = 0) => { const held = {}; Error.captureStackTrace(held); look(held.stack); look(new Error("x").stack); try { null.x; } catch (error) { look(error.stack); } };
raise(); setTimeout(raise, 1); queueMicrotask(raise); await callTool("h", "t", { toJSON: raise }); await (async () => { await null; raise(); })(); await new Promise((go) => setTimeout(go, 5));`,
  ],
  [
    "getters, thenables and proxies in place of values",
    `const handler = {}; for (const name of Object.getOwnPropertyNames(Reflect)) handler[name] = (...all) => { look(all); for (const one of all) look(one); return Reflect[name](...all); };
const made = (target) => new Proxy(target, handler);
const then = function (...all) { look(this); for (const one of all) look(one); all[0]?.(1); };
for (const use of [() => callTool("h", "t", made({ a: 1 })), () => callTool(made({}), made({}), { get a() { look(this); return 1; } }), () => callTool("h", "t", { then }), () => Promise.race([made(Promise.resolve(1)), { then }]), () => setTimeout(made(() => {}), made({})), () => clearTimeout(made({})), () => console.log(made({ a: made([1]) }), made(new Map([[1, 2]])))]) try { look(await use()); } catch (error) { look(error); }
await new Promise((go) => setTimeout(go, 2));`,
  ],
  [
    "setters that everything inherits",
    `for (const key of ["get", "set", "value", "writable", "configurable", "then", "code", "stack", "message", "id", "ok", "0", "1"]) Object.defineProperty(Object.prototype, key, { __proto__: null, configurable: true, get() { look(this); return undefined; }, set(value) { look(this); look(value); } });
try { look(await callTool("h", "t", { a: [1] })); setTimeout(() => {}, 0); console.log({ a: 1 }); } catch (error) { look(error); }
for (const key of ["get", "set", "value", "writable", "configurable", "then", "code", "stack", "message", "id", "ok", "0", "1"]) delete Object.prototype[key];`,
  ],
  [
    "changed promises and iterators",
    `const own = Promise.prototype.then; Promise.prototype.then = new Proxy(own, { apply(then, self, all) { look(self); look(all); for (const one of all) look(one); return Reflect.apply(then, self, all); } });
Object.defineProperty(Promise.prototype, "constructor", { configurable: true, get() { look(this); return class { static get [Symbol.species]() { return class { constructor(executor) { look(executor); executor((value) => look(value), (reason) => look(reason)); } }; } }; } });
for (const make of [() => callTool("h", "fail", {}), () => callTool("h", "t", 1)]) try { look(await make()); } catch (error) { look(error); }`,
  ],
  [
    "code made of text, and modules of the runtime",
    `const hidden = "construct" + "or"; const types = [() => {}, function* () {}, async () => {}, async function* () {}].map((one) => one[hidden]);
for (const type of types) try { look(type("return import('node:fs')")()); found.push("code"); } catch (error) { look(error); }`,
  ],
  [
    "species, and what methods of the language call back",
    `const trap = function (...all) { look(this); for (const one of all) look(one); return all[0]; };
class Species extends Array { static get [Symbol.species]() { return function (...all) { look(this); for (const one of all) look(one); return new Proxy([], { set: (_, key, value) => (look(value), true), defineProperty: (_, key, descriptor) => (look(descriptor), true) }); }; } }
const list = Species.from([1, {}]); for (const act of ["map", "filter", "slice", "concat", "splice", "flat", "flatMap"]) try { look(list[act](trap)); } catch (error) { look(error); }
class Bytes extends Uint8Array { static get [Symbol.species]() { return trap; } } for (const act of ["map", "filter", "slice", "subarray"]) try { look(new Bytes(2)[act](trap)); } catch (error) { look(error); }
look(JSON.parse('{"a":[1]}', function (key, value, context) { look(this); look(context); return value; })); look(JSON.stringify({ a: { toJSON: trap } }, trap)); "xy".replace(/(?<n>x)/, trap); look("xy".match({ [Symbol.match]: trap })); look("x".split({ [Symbol.split]: trap })); look([..."xx".matchAll(/x/g)]);
class Pattern extends RegExp { exec(text) { look(this); return { index: 0, get 0() { look(this); return "x"; }, length: 1, groups: new Proxy({}, { get: trap }) }; } } look("x".replace(new Pattern("x", "g").constructor === Pattern ? new Pattern("x") : /x/, "$<a>"));
for (const make of [() => Array.fromAsync({ async *[Symbol.asyncIterator]() { yield trap; } }, trap), () => Array.fromAsync([{ then: trap }].slice(1)), () => Promise.try(trap, {}), () => Object.groupBy([1], trap), () => Map.groupBy([{}], trap), () => Iterator.from({ next: trap, return: trap }).map(trap).take(1).toArray(), () => Reflect.construct(Date, [], trap), () => Object.fromEntries({ [Symbol.iterator]: () => ({ next: () => ({ done: false, get value() { look(this); throw 1; } }), return: trap }) })]) try { look(await make()); } catch (error) { look(error); }`,
  ],
  [
    "generators, iterators and what is disposed of",
    `const log = function (...all) { look(this); for (const one of all) look(one); };
const walk = function* () { try { look(yield 1); } catch (error) { look(error); } finally { look(this); } }; const one = walk(); one.next(); one.throw(new Error("x")); const two = walk(); two.next(); two.return({});
async function* async() { try { look(yield { then: (go) => go(1) }); } finally { look(this); } } const three = async(); void three.next().then(look, look); await three.return(1).catch(look);
for (const make of [async () => { for await (const one of Deno.readDir("/workspace")) look(one); }, async () => { const entries = Deno.readDir("/workspace"); look(entries); const iterator = entries[Symbol.asyncIterator](); look(iterator); look(Object.getPrototypeOf(iterator)); look(await iterator.next({ then: log })); look(await iterator.throw(new Error("x")).catch((error) => error)); }, async () => look(Deno.readDirSync("/workspace")), () => { look(walk.constructor); look(async.constructor.prototype); }]) try { await make(); } catch (error) { look(error); }
try { const stack = new DisposableStack(); stack.use({ [Symbol.dispose]: log }); stack.defer(log); stack.dispose(); } catch (error) { look(error); }
try { throw new SuppressedError(new Error("a"), new Error("b")); } catch (error) { look(error); look(error.error); }`,
  ],
  [
    "files, with objects in place of paths and options",
    `const trap = new Proxy(function () {}, { get: (target, key, self) => { look(target); look(self); return key === Symbol.toPrimitive ? () => "x.txt" : trap; }, apply: (...all) => { look(all); for (const one of all) look(one); return "x.txt"; } });
Object.prototype.code = trap; Object.prototype.create = true;
for (const act of [Deno.readTextFile, Deno.readTextFileSync, Deno.writeTextFile, Deno.writeTextFileSync, Deno.mkdir, Deno.mkdirSync, Deno.remove, Deno.removeSync, Deno.rename, Deno.renameSync, Deno.copyFile, Deno.copyFileSync, Deno.readDir, Deno.readDirSync]) for (const given of [["none/x.txt"], ["a\\0b", "b"], [trap, trap, trap], ["x.txt", trap, { get append() { look(this); return true; }, toJSON: trap, signal: trap }], ["x.txt", "x", null], [1], ["/etc/passwd", "x"], ["/proc/self/environ"], ["../../../etc/passwd"], ["x".repeat(100_000)]]) try { const made = act(...given); look(made); look(await made); if (typeof made === "object" && made !== null && Symbol.asyncIterator in made) for await (const one of made) look(one); } catch (error) { look(error); for (const key of Reflect.ownKeys(Object(error))) look(error[key]); }
delete Object.prototype.code; delete Object.prototype.create;`,
  ],
  [
    "errors of tools, of imports and of what can't be sent",
    `const each = (error) => { look(error); for (let one = error; typeof one === "object" && one !== null; one = Object.getPrototypeOf(one)) for (const key of Reflect.ownKeys(one)) try { look(error[key]); look(one[key]); } catch (thrown) { look(thrown); } };
const circle = {}; circle.a = circle; for (const args of [1n, circle, () => {}, Symbol("x"), new Map(), "x".repeat(1_000), new Proxy({}, { ownKeys() { throw { thrown: look }; } }), { get a() { throw new Proxy({}, {}); } }, Promise.resolve(1), new Uint8Array(3), new Error("x"), Object(1)]) try { look(await callTool("h", "t", args)); } catch (error) { each(error); }
try { await callTool("h", "fail", {}); } catch (error) { each(error); } class Sub extends client.ToolError { constructor(...all) { super(...all); look(this); } } try { new Sub({ code: "A", message: { toString: () => "x" }, details: new Proxy({}, {}) }, {}, {}); } catch (error) { each(error); }
for (const use of [() => import.meta.resolve({ toString() { look(this); return "./a.ts"; } }), () => import.meta.resolve("npm:x"), () => tools.count({ get a() { throw look; } }), () => client.readResource("h", { toString: () => "x" }), () => client.saveSkill(new Proxy({}, {}))]) try { look(await use()); } catch (error) { each(error); }`,
  ],
  [
    "callers, and what lies above the program on the stack",
    `const sloppy = [function () { return arguments.callee; }, function named() { return named.caller; }]; for (const one of sloppy) try { look(one()); look(one.caller); look(one.arguments); } catch (error) { look(error); }
const chain = (start) => { for (let one = start, left = 20; one && left > 0; left -= 1) { look(one); try { look(one.arguments); one = one.caller; } catch (error) { look(error); break; } } };
const probe = function () { chain(probe); try { chain(arguments.callee); } catch (error) { look(error); } return 1; };
await callTool("h", "t", { toJSON: probe, get a() { return probe(); } }); setTimeout(probe, 0); queueMicrotask(probe); console.log({ toJSON: probe }, { get a() { return probe(); } }); await { then: (go) => go(probe()) }; for await (const one of [{ then: (go) => go(probe()) }]) look(one);
for (const limit of [NaN, {}, -1, "x", { valueOf: probe }]) try { Error["stackTrace" + "Limit"] = limit; look(new Error("x").stack); const held = {}; Error.captureStackTrace(held, probe); look(Object.getOwnPropertyDescriptor(held, "stack")?.get); look(Object.getOwnPropertyDescriptor(held, "stack")); } catch (error) { look(error); }
const stackOf = Object.getOwnPropertyDescriptor(new Error("x"), "stack"); look(stackOf); look(stackOf?.get); look(stackOf?.set); await new Promise((go) => setTimeout(go, 3));`,
  ],
  [
    "async stacks, and errors that tell of themselves",
    `const hold = {}; async function inner() { await Promise.all([1, Promise.reject(new AggregateError([new Error("x")]))]); } async function outer() { await null; Error.captureStackTrace(hold); look(hold.stack); try { await inner(); } catch (error) { look(error); for (const key of Reflect.ownKeys(error)) look(error[key]); } } await outer();
class Own extends Error { get stack() { look(this); throw this; } get message() { look(this); return { toString: () => { look(this); return "m"; } }; } get name() { return new Proxy({}, { get: (target, _, self) => { look(target); look(self); return undefined; } }); } get cause() { return this; } }
const own = new Own(); console.log(own); console.error("%s", own, [own], { own }); try { throw own; } catch (error) { look(error); }
const lacking = (() => this)() ?? {}; for (const name of ["Atomics", "FinalizationRegistry", "SharedArrayBuffer", "WeakRef", "WebAssembly"]) if (lacking[name] !== undefined) found.push(name); try { look(arguments); found.push("arguments"); } catch (error) { look(error); }`,
  ],
  [
    "formats, locales and buffers",
    `for (const make of [() => new Intl.NumberFormat({ toString: look, length: 1, get 0() { look(this); return "en"; } }), () => new Intl.DateTimeFormat("en", new Proxy({}, { get: (target, key) => look(target) })).formatToParts(), () => new Intl.Segmenter("en").segment("ab")[Symbol.iterator]().next(), () => new Intl.Segmenter("en").segment("ab"), () => Intl.getCanonicalLocales(["en"]), () => new Intl.Collator().compare, () => new Intl.DurationFormat("en").format({ hours: 1 }), () => new Intl.PluralRules("en").selectRange(1, 2), () => new Date().toLocaleString("en", {}), () => new ArrayBuffer(8, { maxByteLength: 16 }).transfer(), () => Date.prototype.toTemporalInstant?.call(new Date())]) try { const made = make(); look(made); for (let one = made; Object(one) === one; one = prototypeOf(one)) for (const key of Reflect.ownKeys(one)) try { look(made[key]); } catch (error) { look(error); } } catch (error) { look(error); }`,
  ],
  [
    "objects in place of numbers and texts",
    `Deno.mkdirSync("/workspace/results", { recursive: true }); Deno.writeTextFileSync("/workspace/results/list.json", "[1,2]");
const handle = await callTool("h", "t", { type: "json", mimeType: "application/json", size: 5, path: "/workspace/results/list.json" });
const odd = { [Symbol.toPrimitive](...all) { look(this); for (const one of all) look(one); if (new Error("x").stack.includes("file:")) found.push("frames of the guest"); return 1; } };
const wrapped = new Proxy(odd, { get(target, key, self) { look(self); return target[key]; } });
for (const given of [odd, wrapped, Object(1), [odd]]) for (const use of [() => handle.page(given, given), () => handle.bytes(given, given), () => [...handle.items(given)], () => setTimeout(() => {}, given), () => clearTimeout(given), () => Deno.readTextFileSync(given), () => Deno.writeTextFileSync("odd.txt", given), () => Deno.mkdirSync("odd", { recursive: given, mode: given }), () => Deno.renameSync("odd.txt", given), () => import.meta.resolve(given), () => callTool(given, given, { given }), () => client.readResource(given, given)]) try { look(await use()); } catch (error) { look(error); }`,
  ],
];

/**
 * `makers` are functions that make values which look around when the code that they are thrown to touches them in any way.
 * Their finds are printed, and used.
 */
const THROWN = `${FIND_FOREIGN}found.push = (what) => console.log("reached", what);
const use = (list) => { try { list["construct" + "or"].constructor("return globalThis")().Deno.readTextFileSync = () => "mine"; } catch {} };
const watch = (act) => { const seen = spy(act); return new Proxy(function () {}, { apply(_, self, all) { use(all); return callWith(seen, self, all); } }); };
const watched = (target = {}, own = {}) => { const handler = {}; for (const name of Object.getOwnPropertyNames(Reflect)) handler[name] = watch(own[name] ?? Reflect[name]); return new Proxy(target, handler); };
const members = "then constructor message name stack cause errors toString toJSON code length".split(" ");
const symbols = [Symbol.toPrimitive, Symbol.toStringTag, Symbol.iterator, Symbol.for("Deno.customInspect"), Symbol.for("Deno.privateCustomInspect"), Symbol.for("nodejs.util.inspect.custom")];
const laden = (target) => { for (const key of [...members, ...symbols]) Object.defineProperty(target, key, { configurable: true, get: watch(), set: watch() }); return target; };
const refusing = (left) => watched({}, { getPrototypeOf() { throw left > 0 ? refusing(left - 1) : laden(new Error("x")); } });
const makers = [() => watched(), () => watched(() => {}), () => Object.create(watched()), () => Object.setPrototypeOf(new Error("x"), watched(Error.prototype)), () => laden({}), () => laden(new Error("x")), () => refusing(0), () => refusing(3)];
`;
const MAKERS = 8;
const imported = (code: string): string =>
  `import { x } from "data:text/javascript,${encodeURIComponent(`${THROWN}export const x = 1; ${code}`)}"; await new Promise((go) => setTimeout(go, 30)); return x;`;
/** Programs that throw what `make` returns, after {@link THROWN}. */
const throwing = (make: string): [way: string, code: string][] => [
  ["a program", `${THROWN}throw ${make};`],
  [
    "a callback",
    `${THROWN}setTimeout(() => { throw ${make}; }, 0); await new Promise((go) => setTimeout(go, 30));`,
  ],
  ["a promise", `${THROWN}Promise.reject(${make}); await new Promise((go) => setTimeout(go, 30));`],
  ["a module", imported(`throw ${make};`)],
  ["a module that has waited", imported(`await null; throw ${make};`)],
  ["a promise of a module", imported(`Promise.reject(${make});`)],
];

const DESCRIPTORS = `for (const key of ["get", "set", "writable", "configurable"]) Object.defineProperty(Object.prototype, key, { __proto__: null, configurable: true, get: watch() });`;
/** Changes to what everything inherits, and programs whose runs would notice them with the guest on the stack. */
const INHERITED: [what: string, code: string][] = [
  [
    "the constructor of promises, at a timer",
    `${THROWN}Object.defineProperty(Promise.prototype, "constructor", { configurable: true, get: watch(() => Promise) }); await new Promise((go) => setTimeout(go, 1)); return 1;`,
  ],
  [
    "a method that promises look for, at a call's result",
    `${START}${THROWN}Object.defineProperty(Object.prototype, "then", { configurable: true, get: watch() }); await callTool("h", "t", {}); delete Object.prototype.then; return 1;`,
  ],
  [
    "the name of errors, at the list of what is left",
    `${THROWN}for (const key of ["name", "message", "stack"]) Object.defineProperty(Error.prototype, key, { configurable: true, get: watch(() => "x") }); setTimeout(() => {}, 5); return 1;`,
  ],
  [
    "descriptors, at the import of a tool",
    `import "data:text/javascript,${encodeURIComponent(`${THROWN}${DESCRIPTORS}`)}"; import * as tools from "./servers/counter/index.ts"; return Object.keys(tools).length;`,
  ],
];

/** Contract tests: programs that try to reach an object of the guest's own realm, and what remains of them in a later run. */
export function breakoutsContract(makeProvider: () => SandboxProvider, files: Record<string, string>): void {
  const withSession = (use: (session: SessionHarness) => Promise<void>) =>
    SessionHarness.with(makeProvider, files, use);
  const invoker = recordingInvoker(({ args }) => args);

  describe("get hold of nothing", () => {
    it(
      "by any known way",
      withSession(async (session) => {
        for (const [name, code] of BREAKOUTS) {
          const program = `${START}${FIND_FOREIGN}${code}\nreturn found;`;
          const { status, value } = (await session.run(program, { invoker })) as {
            status: string;
            value?: unknown;
          };
          expect({ name, status, value }).toEqual({ name, status: "completed", value: [] });
        }
        expect(session.stats()).toMatchObject({ reused: BREAKOUTS.length - 1, kept: 1 });
      }),
    );

    it(
      "by what they throw",
      withSession(async (session) => {
        const hostile = `${START}${FIND_FOREIGN}const trap = () => ({ toString: new Proxy(() => "", { apply(_, self, all) { look(self); look(all); return String(found.length); } }) });\nthrow { get message() { return trap(); }, get name() { return trap(); }, get stack() { return trap(); } };`;
        expect(await session.run(hostile)).toMatchObject({ status: "failed", error: { message: "0" } });
        expect(await session.run(`${THROWN}return makers.length;`)).toMatchObject({ value: MAKERS });
        for (let index = 0; index < MAKERS; index += 1)
          for (const [way, code] of throwing(`makers[${index}]()`)) {
            const ended = { way, index, ...(await session.run(code)) };
            expect(ended).toMatchObject({ way, index, status: "failed", kind: "exception", output: "" });
            expect(await session.value(`return Deno.readTextFileSync("note.txt");`)).toBe("hello");
          }
        const revoked = "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;";
        expect(await session.run(revoked)).toMatchObject({ status: "failed", kind: "exception" });
        await session.run(`Deno.writeTextFileSync("/workspace/thrower.ts", ${JSON.stringify(revoked)});`);
        expect(await session.run('import "./thrower.ts"; return 1;')).toMatchObject({
          status: "failed",
          kind: "exception",
        });
        expect(session.stats()).toMatchObject({ reused: 4 + MAKERS * 12, kept: 1 });
      }),
    );
  });

  it(
    "see nothing of the guest in what everything inherits",
    withSession(async (session) => {
      for (const [what, code] of INHERITED) {
        const ended = { what, ...(await session.run(code, { invoker })) };
        expect(ended).toMatchObject({ what, status: "completed", value: 1, output: "" });
      }
      expect(session.stats()).toMatchObject({ reused: INHERITED.length - 1, kept: 1 });
    }),
  );

  it("leave no module in place of host tools whose server has no folder", async () => {
    const session = await SessionHarness.make(makeProvider, {}, { hostTools: { crm: ["find"] } });
    try {
      const planted = `console.log("planted"); export const extra = 1; export const find = 2;`;
      const leave = `Deno.mkdirSync("/workspace/servers/crm", { recursive: true }); for (const end of ["ts", "mts", "js"]) Deno.writeTextFileSync("/workspace/servers/crm/index." + end, ${JSON.stringify(planted)});`;
      await session.run(leave, { session: "one" });
      const code = `import * as crm from "./servers/crm/index.ts"; return [Object.keys(crm), await crm.find({ a: 1 })];`;
      const options = { invoker, session: "two" };
      expect(await session.run(code, options)).toMatchObject({ value: [["find"], { a: 1 }], output: "" });
      const extra = await session.run(
        `import { find, extra } from "./servers/crm/index.ts"; return extra;`,
        options,
      );
      const message = expect.stringMatching(/^extra is not exported by .{0,60} It exports find\.$/) as string;
      expect(extra).toMatchObject({ error: { message }, output: "" });
    } finally {
      await session.dispose();
    }
  });

  it(
    "leave no process behind where they had the runtime, whatever they do to it",
    withSession(async (session) => {
      await session.run("return 1");
      const goesOn = `Deno.exit = process.exit = (() => {}) as never; process.on("exit", () => { for (;;); });
const write = process.stdout.write; process.stdout.write = () => true;
setInterval(() => Deno.writeTextFileSync("alive.txt", String(Date.now())), 5);
export default Deno.pid;`;
      expect(await session.run(goesOn)).toMatchObject({ status: "completed" });
      expect(session.kept).toBe(0);
      const look = `const before = Deno.readTextFileSync("alive.txt"); await new Promise((go) => setTimeout(go, 60)); return before === Deno.readTextFileSync("alive.txt");`;
      await session.run(`Deno.writeTextFileSync("alive.txt", "0");`);
      expect(await session.value(look)).toBe(true);
    }),
  );
}

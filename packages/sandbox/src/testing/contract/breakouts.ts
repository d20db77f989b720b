import type { SandboxProvider } from "@cem/core";
import { describe, expect, it } from "vitest";
import { recordingInvoker } from "./harness.ts";
import { FIND_FOREIGN, START } from "./reachable.ts";
import { SessionHarness } from "./sessions.ts";

/** A way to get hold of what a program is not given. It calls `look` with whatever it finds. */
type Breakout = [name: string, code: string];

const BREAKOUTS: Breakout[] = [
  [
    "the arguments of its own way to be printed",
    `const trap = function (...all) { look(this); for (const one of all) { look(one); if (typeof one === "object" && one !== null) for (const member of Object.values(one)) look(member); } return ""; };
const hostile = { [Symbol.for("Deno.customInspect")]: trap, [Symbol.for("Deno.privateCustomInspect")]: trap, [Symbol.for("nodejs.util.inspect.custom")]: trap, toString: trap, toJSON: trap, [Symbol.toPrimitive]: trap };
console.log(hostile); console.log("%s %j %o %d", hostile, hostile, hostile, hostile); console.error(new Error("x", { cause: hostile })); console.log(new (class { get [Symbol.toStringTag]() { return hostile; } })());`,
  ],
  [
    "a full stack",
    `const deep = (action) => { let left = 60; const down = () => { try { down(); } catch (error) { look(error); } if (left-- > 0) try { look(action()); } catch (error) { look(error); } }; down(); };
for (const action of [() => performance.now(), () => crypto.randomUUID(), () => atob("*"), () => btoa("x"), () => queueMicrotask(() => {}), () => setTimeout(() => {}, 0), () => new TextEncoder().encode("x"), () => console.log("x"), () => callTool("h", "t", {}).catch(look), () => import("./servers/counter/index.ts").catch(look)]) deep(action);
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
for (const use of [() => callTool("h", "t", made({ a: 1 })), () => callTool(made({}), made({}), { get a() { look(this); return 1; } }), () => callTool("h", "t", { then }), () => Promise.race([made(Promise.resolve(1)), { then }]), () => setTimeout(made(() => {}), made({})), () => clearTimeout(made({})), () => console.log(made({ a: made([1]) }), made(new Map([[1, 2]]))), () => new TextEncoder().encode(made({ toString: () => "x" })), () => new TextDecoder().decode(made(new Uint8Array(2))), () => atob(made({}))]) try { look(await use()); } catch (error) { look(error); }
await new Promise((go) => setTimeout(go, 2));`,
  ],
  [
    "setters that everything inherits",
    `for (const key of ["get", "set", "value", "writable", "configurable", "then", "code", "stack", "message", "id", "ok", "0", "1"]) Object.defineProperty(Object.prototype, key, { __proto__: null, configurable: true, get() { look(this); return undefined; }, set(value) { look(this); look(value); } });
try { look(await callTool("h", "t", { a: [1] })); setTimeout(() => {}, 0); console.log({ a: 1 }); look(await import("./servers/counter/index.ts")); } catch (error) { look(error); }
for (const key of ["get", "set", "value", "writable", "configurable", "then", "code", "stack", "message", "id", "ok", "0", "1"]) delete Object.prototype[key];`,
  ],
  [
    "changed promises and iterators",
    `const own = Promise.prototype.then; Promise.prototype.then = new Proxy(own, { apply(then, self, all) { look(self); look(all); for (const one of all) look(one); return Reflect.apply(then, self, all); } });
Object.defineProperty(Promise.prototype, "constructor", { configurable: true, get() { look(this); return class { static get [Symbol.species]() { return class { constructor(executor) { look(executor); executor((value) => look(value), (reason) => look(reason)); } }; } }; } });
for (const make of [() => import("./none.ts"), () => import("data:text/javascript,export default 1"), () => callTool("h", "fail", {}), () => callTool("h", "t", 1)]) try { look(await make()); } catch (error) { look(error); }`,
  ],
  [
    "code made of text, and modules of the runtime",
    `const hidden = "construct" + "or"; const types = [() => {}, function* () {}, async () => {}, async function* () {}].map((one) => one[hidden]);
for (const type of types) try { look(type("return import('node:fs')")()); found.push("code"); } catch (error) { look(error); }
for (const wrong of [null, 1, [null], [{ specifier: {} }], [{ specifier: "node:fs", names: [] }], [{ specifier: "./servers/counter/index.ts", names: [{ name: {}, line: {}, column: {} }] }], new Proxy([], { get: (_, key) => look(key) })]) try { look(await arguments[0].load(wrong)); } catch (error) { look(error); }`,
  ],
];

/** Programs that try to get hold of an object of the guest's own realm, and what is left of them in a later run. */
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
        const revoked = "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;";
        expect(await session.run(revoked)).toMatchObject({ status: "failed", kind: "exception" });
        expect(session.stats().reused).toBe(1);
      }),
    );
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

import type { SandboxProvider } from "@cem/core";
import { expect, it } from "vitest";
import { recordingInvoker } from "./harness.ts";
import { SessionHarness } from "./sessions.ts";

/** The values that a program of the language and tools can begin with. */
export const START = `import * as client from "cem:client"; import * as tools from "./servers/counter/index.ts"; const { callTool } = client;
`;

/**
 * `look` takes a value and records it if it belongs to another realm. `spy` makes a function that looks at all that it is
 * given, and at the list of its arguments, which belongs to the realm that calls it.
 */
export const FIND_FOREIGN = `const found = []; const ownRoot = Object.prototype; const prototypeOf = Object.getPrototypeOf;
function isForeign(value) { if ((typeof value !== "object" && typeof value !== "function") || value === null) return false; let root = value; try { for (let next = prototypeOf(value); next !== null; next = prototypeOf(next)) root = next; } catch { return false; } return root !== ownRoot && root !== value; }
function look(value) { if (isForeign(value)) found.push(typeof value); }
let isTrapped = false; const readStack = (error) => error.stack; const OwnError = Error;
function lookAtStack() { if (isTrapped) return; isTrapped = true; try { if (/file:(?!\\/\\/\\/workspace\\/)/.test(readStack(new OwnError("x")))) found.push("frames of the guest"); } finally { isTrapped = false; } }
const callWith = Reflect.apply;
const spy = (act = () => undefined) => new Proxy(function () {}, { apply(_, self, all) { look(all); look(self); for (let index = 0; index < all.length; index += 1) look(all[index]); lookAtStack(); return callWith(act, self, all); } });
`;

/**
 * Walks from every known value to everything reachable: members, prototypes, getters, and what functions return, throw
 * and pass to callbacks when called with odd arguments. No callback is ever called by the guest's own code.
 */
const FUZZ = `let state = SEED; const random = (below) => { state = (state * 1103515245 + 12345) % 2147483648; return state % below; };
const names = [Object, Function.prototype, Array, Number, Boolean, String, Symbol, Date, Promise, RegExp, Error, AggregateError, RangeError, TypeError, JSON, Math, Intl, ArrayBuffer, Uint8Array, Float64Array, DataView, Map, BigInt, Set, WeakMap, WeakSet, Iterator, Proxy, Reflect];
Deno.mkdirSync("/workspace/results", { recursive: true }); Deno.writeTextFileSync("/workspace/results/list.json", "[1,2]");
const handle = await callTool("h", "t", { type: "json", mimeType: "application/json", size: 5, path: "/workspace/results/list.json" });
const given = [handle, handle.page, handle.bytes, handle.items, Deno.readTextFileSync, Deno.readDir, client, tools, console.log, console.error, console.dir, console.warn, setTimeout, setInterval, clearTimeout, queueMicrotask, performance.now, crypto.randomUUID, import.meta, setTimeout(() => {}, 1)];
const values = []; const seen = new WeakSet(); let calls = 0;
const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
function take(value) { if (!isObject(value) || seen.has(value)) return; seen.add(value); look(value); if (values.length < 4_000) values.push(value); else values[random(values.length)] = value; }
const callback = spy(function (...all) { take(this); for (const one of all) take(one); return all[0]; });
const odd = () => [undefined, null, 0, -1, 1e9, NaN, "", "x", "__proto__", {}, [], callback, Symbol.iterator, 1n, new Proxy({}, { get: (_, key) => (key === "then" ? undefined : callback) }), { then: callback }, { toString: callback, valueOf(...all) { Reflect.apply(callback, this, all); return 1; }, toJSON: callback }, values[random(values.length)]][random(18)];
const isLong = (one) => one === String.prototype.repeat || one === String.prototype.padStart || one === String.prototype.padEnd || one === Array.prototype.fill || one === Array.prototype.concat;
function step(value) {
  take(prototypeOf(value));
  for (const key of Reflect.ownKeys(value).slice(0, 60)) { const { value: member, get, set } = Object.getOwnPropertyDescriptor(value, key) ?? {}; take(member); take(get); take(set); }
  if (typeof value !== "function" || value === callback || isLong(value)) return;
  for (const run of [() => Reflect.apply(value, odd(), [odd(), odd(), odd()].slice(random(4))), () => Reflect.construct(value, [odd(), odd()].slice(random(3)))]) {
    try { calls += 1; const result = run(); take(result); if (result instanceof Promise) result.then(take, take); } catch (error) { take(error); }
  }
}
const pristine = [Object.prototype, Array.prototype, Promise.prototype, Reflect, Object, WeakSet.prototype, Array, Function.prototype].map((one) => [one, Object.getOwnPropertyDescriptors(one)]);
for (const one of [...names, ...given]) take(one);
const until = performance.now() + LONG_MS; const clock = performance.now;
while (clock() < until) { for (let turn = 0; turn < 200; turn += 1) { step(random(4) === 0 ? given[random(given.length)] : values[random(values.length)]); for (const [one, own] of pristine) for (const key of Reflect.ownKeys(own)) try { if (!Object.is(one[key], own[key].value) && "value" in own[key]) Object.defineProperty(one, key, own[key]); } catch {} } await null; }
const seenAll = calls;
`;

/**
 * A program that searches for objects of another realm for some milliseconds. Its value is the number of calls it made,
 * and what it found.
 */
function fuzzProgram(seed: number, ms: number): string {
  const walk = FUZZ.replace("SEED", String(seed)).replace("LONG_MS", String(ms));
  return `${START}${FIND_FOREIGN}${walk}return [seenAll, found.slice(0, 20)];`;
}

/** Contract test: programs reach no object of another realm. */
export function reachableContract(makeProvider: () => SandboxProvider, files: Record<string, string>): void {
  const invoker = recordingInvoker(({ args }) => args);
  it(
    "can reach objects of their own realm only",
    SessionHarness.with(makeProvider, files, async (session) => {
      const outcome = await session.run(fuzzProgram(7, 400), { invoker, limits: { calls: 1_000_000 } });
      expect(outcome).toMatchObject({ status: "completed", value: [expect.any(Number), []] });
      expect(outcome.output.length).toBeGreaterThan(0);
      expect(session.kept).toBe(1);
    }),
  );
}

/**
 * Runs programs that search for objects of another realm, each with its own seed.
 *
 * @returns the number of programs that ran, the number of those ended by a limit or an error, the number of functions
 *   that the others called, and what they found.
 */
export async function fuzzRealm(
  makeProvider: () => SandboxProvider,
  durationMs: number,
): Promise<{ programs: number; ended: number; calls: number; found: unknown[] }> {
  const session = await SessionHarness.make(makeProvider, FUZZ_FILES);
  const invoker = recordingInvoker(({ args }) => args);
  const until = performance.now() + durationMs;
  const counts = { programs: 0, ended: 0, calls: 0 };
  try {
    for (let seed = Date.now() % 2 ** 31; performance.now() < until; seed += 1) {
      const { isolation: _, ...outcome } = await session.run(fuzzProgram(seed, 2_000), {
        invoker,
        limits: { calls: 1_000_000 },
      });
      const value = outcome.status === "completed" ? (outcome.value as [number, string[]]) : undefined;
      // It may print, call or set timers until a limit ends it, or throw an uncaught error; it must never find anything.
      counts.programs += 1;
      if (value === undefined) counts.ended += 1;
      else counts.calls += value[0];
      if (value !== undefined && value[1].length > 0)
        return { ...counts, found: [{ seed, found: value[1] }] };
    }
  } finally {
    await session.dispose();
  }
  return { ...counts, found: [] };
}

const FUZZ_FILES = {
  "servers/counter/index.ts": "export async function count(given: unknown) { return given; }\n",
};

import { evaluateInNewRealm } from "./context.ts";
import { deno } from "./deno.ts";
import { listIntrinsics } from "./inside/intrinsics.ts";

/** A frame of a stack, as a program's own `Error.prepareStackTrace` gets it. */
const CALL_SITE = "Error.prepareStackTrace = (_, sites) => sites[0]; new Error().stack";

type Members = Record<string | symbol, unknown>;

/**
 * Makes the language unchangeable in the guest's own realm, and takes from functions the way to make code. A program is
 * given no object of this realm, apart from what the runtime itself passes to it, such as the second argument of a
 * custom `inspect`; from there it gets no further than to what is frozen.
 */
export function hardenLanguage(): void {
  for (const prototype of codeMakers())
    Object.defineProperty(prototype, "constructor", { value: refusal(prototype) });
  // Set by the runtime itself now and then.
  Object.defineProperty(Error, "stackTraceLimit", {
    value: Error.stackTraceLimit,
    writable: true,
    configurable: false,
  });
  Object.defineProperty(Error, "prepareStackTrace", {
    get: () => undefined,
    set: () => {},
    configurable: false,
  });
  const seen = new Set<unknown>([globalThis]);
  const callSite = evaluateInNewRealm(CALL_SITE);
  for (const object of [...listIntrinsics(), ...iteratorPrototypes(), callSite]) harden(object, seen);
  hardenPrinting(deno.inspect);
}

/** Stands where the constructor was, by the same name. */
function refusal(prototype: object): object {
  const refuse = function (): never {
    throw new TypeError("Code can't be made from text here.");
  };
  const { name } = prototype.constructor;
  return Object.defineProperties(refuse, { name: { value: name }, prototype: { value: prototype } });
}

function codeMakers(): object[] {
  const functions = [() => {}, function* () {}, async () => {}, async function* () {}];
  return functions.map((one) => Object.getPrototypeOf(one) as object);
}

function iteratorPrototypes(): object[] {
  const iterators = [
    [].values(),
    new Map().keys(),
    new Set().keys(),
    ""[Symbol.iterator](),
    "".matchAll(/a/g),
  ];
  return iterators.map((one) => Object.getPrototypeOf(one) as object);
}

/** Freezes what a function that prints passes to an object's own way to be printed. */
export function hardenPrinting(print: object): void {
  const seen = new Set<unknown>([globalThis]);
  const take = (...given: unknown[]): string => {
    for (const one of given.flatMap((value) => [value, ...Object.values((value ?? {}) as Members)])) {
      if (typeof one === "function") harden(one, seen);
    }
    return "";
  };
  for (const symbol of ["Deno.customInspect", "nodejs.util.inspect.custom"].map((name) => Symbol.for(name))) {
    (print as (value: unknown) => string)({ [symbol]: take });
  }
}

/** Freezes an object and all that it leads to. */
function harden(object: unknown, seen: Set<unknown>): void {
  if ((typeof object !== "object" && typeof object !== "function") || object === null || seen.has(object))
    return;
  seen.add(object);
  for (const key of Reflect.ownKeys(object)) {
    const { value, get, set } = Reflect.getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
    for (const part of [value, get, set]) harden(part, seen);
    if (isOverridden(object, key)) keepOverridable(object, key, value);
  }
  harden(Reflect.getPrototypeOf(object), seen);
  if (object === Error) Object.preventExtensions(object);
  else Object.freeze(object);
}

const ERROR_MEMBERS = new Set<string | symbol>(["name", "message", "toString", "constructor"]);
const BYTES = Object.getPrototypeOf(Uint8Array.prototype) as object;

/** Whether the runtime gives objects that inherit a member one of their own by assigning it. */
function isOverridden(object: object, key: string | symbol): boolean {
  if (object === Object.prototype || object === Function.prototype) return true;
  if (object === BYTES) return typeof key === "string" && key !== "constructor";
  return ERROR_MEMBERS.has(key) && (object === Error.prototype || Error.prototype.isPrototypeOf(object));
}

/** A member can't be replaced, but what inherits it may have its own, as if it could be. */
function keepOverridable(object: object, key: string | symbol, value: unknown): void {
  const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
  if (descriptor?.configurable !== true || !("value" in descriptor)) return;
  Object.defineProperty(object, key, {
    get: () => value,
    set(this: object, next: unknown) {
      if (this === object) throw new TypeError(`${String(key)} can't be replaced here.`);
      Object.defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true });
    },
    enumerable: false,
    configurable: false,
  });
}

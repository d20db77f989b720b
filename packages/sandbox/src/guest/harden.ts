/**
 * Makes the objects that every other one leads to unchangeable in the guest's own realm, and takes from functions the way
 * to make code. A program is never given an object of this realm, apart from what the runtime itself passes to it, such
 * as the second argument of a custom `inspect`.
 */
export function hardenRoots(): void {
  for (const prototype of [Object.prototype, Function.prototype]) {
    for (const key of Reflect.ownKeys(prototype)) hardenMember(prototype, key);
    Object.preventExtensions(prototype);
  }
  Object.freeze(Object);
  const functions = [function* () {}, async () => {}, async function* () {}];
  for (const prototype of functions.map((one) => Object.getPrototypeOf(one) as object)) {
    Object.defineProperty(prototype, "constructor", { value: refuse });
    Object.freeze(prototype);
  }
}

function refuse(): never {
  throw new TypeError("Code can't be made from text here.");
}

/** A member can't be replaced, but what inherits it may have its own, as if it could be. */
function hardenMember(prototype: object, key: string | symbol): void {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, key);
  if (descriptor?.configurable !== true) return;
  const value: unknown =
    prototype === Function.prototype && key === "constructor" ? refuse : (descriptor.value as unknown);
  if (!("value" in descriptor)) {
    Object.defineProperty(prototype, key, { configurable: false });
    return;
  }
  Object.defineProperty(prototype, key, {
    get: () => value,
    set(this: object, next: unknown) {
      if (this === prototype) throw new TypeError(`${String(key)} can't be replaced here.`);
      Object.defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true });
    },
    enumerable: false,
    configurable: false,
  });
}

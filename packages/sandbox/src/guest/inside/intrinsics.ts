/**
 * Lists the prototypes and constructors of the language in a realm, in the same order in every realm, `Object.prototype`
 * first. Left out is what only the realm's own objects can be: prototypes of generators and of the built-in iterators.
 */
export function listIntrinsics(): object[] {
  const list: object[] = [Object.prototype];
  const names =
    "Object Function Array Number Boolean String Symbol BigInt Promise Date RegExp Map Set WeakMap WeakSet WeakRef ArrayBuffer SharedArrayBuffer DataView Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError Iterator Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array BigUint64Array BigInt64Array Uint8ClampedArray Float16Array Float32Array Float64Array Proxy";
  for (const name of names.split(" ")) {
    const type = (globalThis as unknown as Record<string, { prototype?: object }>)[name];
    if (type === undefined) continue;
    list.push(type);
    if (type.prototype !== undefined) list.push(type.prototype);
  }
  const typedArray = Object.getPrototypeOf(Uint8Array) as { prototype: object };
  const asyncFunction = Object.getPrototypeOf(async () => {}) as object;
  const asyncGenerator = Object.getPrototypeOf(async function* () {}) as { prototype: object };
  list.push(typedArray, typedArray.prototype, asyncFunction, asyncFunction.constructor);
  list.push(Object.getPrototypeOf(function* () {}) as object, asyncGenerator);
  list.push(Object.getPrototypeOf(asyncGenerator.prototype.constructor.prototype) as object);
  return list;
}

import { deno } from "./deno.ts";
import { readKept } from "./kept-results.ts";
import { addDelay, addFinite } from "./outer-realm.ts";

type Members = Record<string, unknown>;

const BLOCKING = "Sync";
const READERS = "arrayBuffer blob bytes formData json text";

/** Notes the functions of Deno and of the web whose promises always settle. */
export function noteFiniteWork(): void {
  noteWithBlocking("Deno", deno);
  noteWithBlocking("FsFile", (deno["FsFile"] as { prototype: Members }).prototype);
  addFinite(fetch, "fetch");
  addFinite(readKept, "the reading of a result");
  for (const type of [Blob, Request, Response]) noteAll(type.name, type.prototype, READERS.split(" "));
  const { SubtleCrypto } = globalThis as unknown as { SubtleCrypto: { prototype: object } };
  noteAll("crypto.subtle", SubtleCrypto.prototype, Object.getOwnPropertyNames(SubtleCrypto.prototype));
}

/** Notes the functions of `node:timers/promises`. */
export function noteDelays(timers: Members): void {
  for (const name of ["setTimeout", "setImmediate"]) addDelay(timers[name] as object, 0);
  const { wait } = Object.getPrototypeOf(timers["scheduler"]) as { wait?: object };
  if (wait !== undefined) addDelay(wait, 0);
}

/**
 * Notes the functions that have a version which blocks: they don't wait for anything that may never come.
 *
 * @param blocking - Has the versions that block.
 */
export function noteWithBlocking(owner: string, members: Members, blocking: Members = members): void {
  noteAll(
    owner,
    members,
    Object.getOwnPropertyNames(members).filter((name) => `${name}${BLOCKING}` in blocking),
  );
}

/** Notes functions of an object by their names. */
export function noteAll(owner: string, members: object, names: readonly string[]): void {
  for (const name of names) {
    const member: unknown = Object.getOwnPropertyDescriptor(members, name)?.value;
    if (typeof member === "function" && name !== "constructor") addFinite(member, `${owner}.${name}`);
  }
}

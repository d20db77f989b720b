import type { Primordials } from "./primordials.ts";

type Members = Record<string, unknown>;
type Copy = (value: unknown) => unknown;

/** Creates the functions that read what errors have besides a message. They call no getter of own members. */
export function createErrorReader(primordials: Primordials) {
  const { attempt, constructors, create, defineValue, isArray, isInstance, keys, ownProperty } = primordials;
  const MAX_CAUSES = 4;
  const MAX_COLLECTED = 8;
  /** As many are copied into a value: a list may claim any length. */
  const MAX_RETURNED = 1_000;
  /** Members that are told in other ways. */
  const TOLD = { __proto__: null as never, name: true, message: true, stack: true, cause: true };

  const memberOf = (value: object, name: string): unknown => ownProperty(value, name)?.value as unknown;

  /** The first of the errors that an error stands for, as that of `Promise.any` does, and the number of all. */
  function collectedBy(error: object, limit = MAX_COLLECTED): { errors: unknown[]; count: number } {
    const errors: unknown[] = [];
    const add = (value: object, name: string): void =>
      void defineValue(errors, `${errors.length}`, memberOf(value, name), true);
    const list = memberOf(error, "errors");
    let count = 0;
    if (isArray(list)) {
      count = list.length;
      for (let index = 0; index < count && index < limit; index += 1) add(list, `${index}`);
    } else if (ownProperty(error, "suppressed") !== undefined) {
      add(error, "error");
      add(error, "suppressed");
      count = errors.length;
    }
    return { errors, count };
  }

  /** The other members of an error. `undefined` if there are none. */
  function membersOf(error: object): Members | undefined {
    const members = create(null) as Members;
    const names = keys(error);
    let found: Members | undefined;
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      const value = name in TOLD ? undefined : memberOf(error, name);
      if (value === undefined || (name === "errors" && isArray(value))) continue;
      defineValue(members, name, value, true);
      found = members;
    }
    return found;
  }

  function toData(error: object, copy: Copy, causes: number): Members {
    const { name, message } = error as Error;
    const data: Members = { name, message };
    const put = (key: string, value: unknown): void => {
      if (value !== undefined) defineValue(data, key, value, true);
    };
    const copied = (value: unknown): unknown => attempt(() => copy(value), undefined);
    const nested = (value: unknown, more: number): unknown =>
      isInstance(constructors.Error, value) ? toData(value as object, copy, more) : copied(value);
    const members = membersOf(error) ?? {};
    const names = keys(members);
    for (let index = 0; index < names.length; index += 1)
      put(names[index] as string, copied(members[names[index] as string]));
    if (causes === 0) return data;
    put("cause", nested(memberOf(error, "cause"), causes - 1));
    const { errors, count } = collectedBy(error, MAX_RETURNED);
    const list: unknown[] = [];
    for (let index = 0; index < errors.length; index += 1)
      defineValue(list, `${index}`, nested(errors[index], 0) ?? null, true);
    if (isArray(memberOf(error, "errors"))) put("errors", list);
    else if (count > 0) {
      put("error", list[0]);
      put("suppressed", list[1]);
    }
    return data;
  }

  return {
    collectedBy,
    membersOf,
    /**
     * An error as data: with its members, its cause and the errors that it stands for.
     *
     * @param copy - Copies a value as data. What it throws for is left out; without it, all but the message.
     */
    toData(error: object, copy?: Copy): Members {
      const { name, message } = error as Error;
      // A program's proxy may throw when asked.
      return copy === undefined
        ? { name, message }
        : attempt(() => toData(error, copy, MAX_CAUSES), { name, message });
    },
  };
}

export type ErrorReader = ReturnType<typeof createErrorReader>;

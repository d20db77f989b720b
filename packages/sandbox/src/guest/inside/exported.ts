import type { Primordials } from "./primordials.ts";

/** How much of its default export a program has run itself. */
export type Ran = "whole" | "part" | undefined;

/** Creates the functions that tell what the values of a program mean. */
export function createExportReader(primordials: Primordials, hasActed: () => boolean) {
  const { PromiseConstructor, attempt, defineValue, isArray, isInstance, keys, ownProperty } = primordials;

  const isClass = (value: object): boolean => ownProperty(value, "prototype")?.writable === false;

  const isCallable = (value: unknown): value is () => unknown =>
    typeof value === "function" && !isClass(value);

  /**
   * Determines why an export is no result: the program has run it or a part of it itself, or the function needs arguments, or
   * it is a class or an object of functions for other modules. Empty if nobody expects a call, `undefined` for a result.
   */
  function whyLeft(value: unknown, ran: Ran): string | undefined {
    if (!isCallable(value)) {
      if (!isForOthers(value) || (ran === undefined && !hasActed())) return undefined;
      return ran === undefined ? "it is a class or a member of an object" : "";
    }
    if (ran !== undefined) return ran === "whole" ? "" : "the program has already run a part of it";
    const needsArguments = ownProperty(value, "length")?.value !== 0;
    return hasActed() && needsArguments
      ? "it has parameters and the program has already printed or called something"
      : undefined;
  }

  function isForOthers(value: unknown): boolean {
    if (typeof value !== "object" || value === null) return typeof value === "function";
    const names = keys(value);
    for (let index = 0; index < names.length; index += 1)
      if (typeof (value as Record<string, unknown>)[names[index] as string] !== "function") return false;
    return names.length > 0;
  }

  /** Waits for a list of promises, such as `list.map(async …)` gives. Any other value is returned as it is. */
  async function settled(value: unknown): Promise<unknown> {
    if (!attempt(() => isArray(value) && isInstance(PromiseConstructor, value[0]), false)) return value;
    const items: unknown[] = [];
    const list = value as unknown[];
    for (let index = 0; index < list.length; index += 1)
      defineValue(items, `${index}`, await list[index], true);
    return items;
  }

  return {
    isCallable,
    whyLeft,
    settled,
    /** Whether it may be an object whose members the program has not set yet, such as `exports`. */
    isEmpty: (value: unknown): boolean =>
      typeof value === "object" && value !== null && attempt(() => keys(value).length === 0, false),
  };
}

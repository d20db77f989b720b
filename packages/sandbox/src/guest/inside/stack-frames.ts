import type { Primordials } from "./primordials.ts";

interface CallSite {
  getFileName(): unknown;
}

/**
 * Removes frames of the guest runner, whose files have host paths, from the stacks of this realm's errors. A program
 * may still format stacks with a function of its own.
 */
export function hideRunnerFrames(primordials: Primordials, runnerFolders: readonly string[]): void {
  const { apply, constructors, defineProperty, defineValue, startsWith, toText } = primordials;
  const headOf = Error.prototype.toString;
  let chosen: unknown;

  function isRunners(site: CallSite): boolean {
    const file = site.getFileName();
    if (typeof file !== "string") return false;
    for (let index = 0; index < runnerFolders.length; index += 1) {
      if (startsWith(file, runnerFolders[index] as string)) return true;
    }
    return false;
  }

  function prepare(error: unknown, sites: readonly CallSite[]): unknown {
    const shown: CallSite[] = [];
    for (let index = 0; index < sites.length; index += 1) {
      const site = sites[index] as CallSite;
      if (!isRunners(site)) defineValue(shown, `${shown.length}`, site, true);
    }
    if (typeof chosen === "function") return apply(chosen, constructors.Error, [error, shown]);
    let text = "Error";
    try {
      text = apply(headOf, error, []) as string;
    } catch {
      // The program can put anything in place of its errors' names.
    }
    for (let index = 0; index < shown.length; index += 1) text += `\n    at ${toText(shown[index])}`;
    return text;
  }

  defineProperty(constructors.Error, "prepareStackTrace", {
    __proto__: null,
    get: () => prepare,
    set: (next: unknown) => void (chosen = next === prepare ? undefined : next),
    configurable: false,
    enumerable: false,
  } as never);
}

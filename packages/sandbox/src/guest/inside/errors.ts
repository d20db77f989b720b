import type { Links } from "./links.ts";
import type { OuterRealm } from "./membrane-types.ts";
import type { Primordials } from "./primordials.ts";

/** Makes an error of this realm, with a prototype of it, out of one of the outer realm. */
export type ConvertError = (error: Error, prototype: object | null) => object;

/**
 * Creates the conversion of the runtime's errors, which says what was not allowed in terms of the sandbox.
 *
 * @param inward - Brings in what an error has.
 * @param toGuest - Replaces host paths, where any can show.
 */
export function createErrors(
  primordials: Primordials,
  { link }: Links,
  inward: (value: unknown) => unknown,
  toGuest: OuterRealm["toGuest"],
): ConvertError {
  const { constructors, defineValue, execPattern, ownKeys, ownProperty, setPrototypeOf } = primordials;
  const { sliceText, startsWith, toText } = primordials;
  /** The runtime's message for a denied permission. It suggests a flag, which no program can set. */
  const DENIED = /^Requires ([a-z]+) access(?: to (.*))?, run again with the --allow-[a-z-]+ flag$/s;

  /** A message of the runtime in terms of the sandbox. */
  function explain(message: string): string {
    if (startsWith(message, "Failed to spawn ")) return "The sandbox can't start programs.";
    const denied = execPattern(DENIED, message);
    if (denied === null) return message;
    const kind = denied[1] as string;
    const to = denied[2] === undefined ? "" : ` ${denied[2]}`;
    switch (kind) {
      case "net":
        return `The sandbox has no network access to${to === "" ? " other systems" : to}. Code reaches only hosts that the configuration allows, by default none; tools reach what they are for.`;
      case "read":
        return `The sandbox can't read${to}. Code reads files of /workspace and of folders that the configuration mounts.`;
      case "write":
        return `The sandbox can't write${to}. Code writes files in /workspace, but not in /workspace/servers, /workspace/skills or folders mounted read-only.`;
      case "run":
        return `The sandbox can't start programs${to === "" ? "" : `:${to}`}.`;
      case "sys":
        return `The sandbox can't tell${to === "" ? " this" : to}: code learns nothing of the machine it runs on.`;
      case "ffi":
        return `The sandbox can't load native libraries${to === "" ? "" : `:${to}`}.`;
      default:
        return `The sandbox has no ${kind} access${to === "" ? "" : ` to${to}`}.`;
    }
  }

  /** A stack with the error's message as it is in this realm. */
  function stackWith(stack: unknown, error: Error, message: string): unknown {
    const head = `${error.name}: ${error.message}`;
    if (typeof stack !== "string" || message === error.message || !startsWith(stack, head)) return stack;
    return `${error.name}: ${message}${sliceText(stack, head.length)}`;
  }

  /** A text in which host paths can stand anywhere. */
  function guestText<Value>(value: Value): Value {
    return toGuest === undefined || typeof value !== "string" ? value : (toGuest.text(value) as Value);
  }

  return (error, prototype) => {
    const message = guestText(explain(toText(error.message)));
    const inside = new constructors.Error(message);
    setPrototypeOf(inside, prototype);
    link(error, inside);
    const names = ownKeys(error);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (typeof key === "symbol" || key === "message") continue;
      const own = (error as unknown as Record<string, unknown>)[key];
      const member = guestText(key === "stack" ? stackWith(own, error, message) : own);
      defineValue(inside, key, inward(member), ownProperty(error, key)?.enumerable === true);
    }
    return inside;
  };
}

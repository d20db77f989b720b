import type { HostFunction, Primordials } from "./primordials.ts";

/** Work that a program has started and that has not ended yet: a call, an operation of the runtime, or a timer. */
interface Work {
  kind: "call" | "operation" | "timer";
  /** The server of a call; empty for anything else. */
  server: string;
  /** The tool of a call, or the function of the runtime. */
  name: string;
  /** Its stack says where the work was begun. */
  place: Error;
  /** For a timer: whether the run waits for it. */
  isKept: (() => boolean) | undefined;
}

export function createPending(primordials: Primordials, host: HostFunction) {
  const { attempt, constructors, create, defineValue, includesText, indexOfText } = primordials;
  const { isInstance, keys, quote, setPrototypeOf, sliceText, toText } = primordials;
  const MAX_LISTED = 40;
  const MAX_STACK_CHARACTERS = 4_096;
  const PROGRAM = "blob:program:";
  const works = create(null) as Record<number, Work>;
  let next = 0;
  /** When the program returned, and whether it has a value. */
  let over: { at: number; hasValue: boolean } | undefined;
  let endedAt = 0;

  /** Adds the program's stack frames, and those before them, to an error without any. An awaited error already has them. */
  function addPlace(error: unknown, begun: unknown): void {
    // The program can put anything in place of a stack.
    attempt(() => {
      if (!isInstance(constructors.Error, error)) return;
      const { stack } = error as Error;
      if (typeof stack !== "string" || typeof begun !== "string" || includesText(stack, PROGRAM)) return;
      const frames = indexOfText(begun, "\n", 0);
      if (frames !== -1) defineValue(error as Error, "stack", stack + sliceText(begun, frames), false);
    }, undefined);
  }

  const isKept = (work: Work): boolean => work.isKept?.() ?? true;

  return {
    addPlace,
    over: () => over,
    /** When work last ended, in milliseconds; 0 if none has. */
    endedAt: () => endedAt,
    /** Notes that the program goes on after it has rested. */
    goOn: (): void => (over = undefined),
    begin(kind: Work["kind"], name: string, server = "", isKept?: Work["isKept"]) {
      const id = next;
      next += 1;
      // Without a prototype, so that its stack can be read without running code of the program.
      const place = setPrototypeOf(new constructors.Error(), null) as Error;
      works[id] = { __proto__: null, kind, server, name, place, isKept } as never;
      return {
        end() {
          if (works[id] === undefined) return;
          delete works[id];
          endedAt = host("now") as number;
          host("progress");
        },
        /** Adds the position where the work was begun to an error that ended it, unless its stack has frames of the program. */
        place: (error: unknown) => addPlace(error, place.stack),
      };
    },
    /** Whether a run continues after its program has returned. */
    isWaitedFor(hasValue: boolean): boolean {
      over ??= { __proto__: null, at: host("now"), hasValue } as never;
      for (const id in works) if (isKept(works[id] as Work)) return true;
      return false;
    },
    /** Lists the work that the run waits for, or that it stops, oldest first, as the items of a JSON array. */
    list(kept: boolean): string {
      const ids = keys(works);
      let listed = "";
      let count = 0;
      for (let index = 0; index < ids.length && count < MAX_LISTED; index += 1) {
        const work = works[ids[index] as unknown as number] as Work;
        if (isKept(work) !== kept) continue;
        count += 1;
        const { kind, server, name, place } = work;
        const stack = sliceText(toText(place.stack), 0, MAX_STACK_CHARACTERS);
        const named = `"server":${quote(server)},"name":${quote(name)}`;
        listed += `${listed === "" ? "" : ","}{"kind":"${kind}",${named},"stack":${quote(stack)}}`;
      }
      return listed;
    },
  };
}

export type Pending = ReturnType<typeof createPending>;
export type BegunWork = ReturnType<Pending["begin"]>;

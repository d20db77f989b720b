import type { Primordials } from "./primordials.ts";

/** A call or an operation of the runtime that a program has started and that has not ended yet. */
interface Work {
  kind: "call" | "operation";
  /** The server of a call; empty for an operation. */
  server: string;
  /** The tool of a call, or the function of the runtime. */
  name: string;
  /** Its stack says where the work was begun. */
  place: Error;
}

/** Work that goes on. */
export interface BegunWork {
  /** Notes its end. */
  end(): void;
  /** Gives an error that it ended with the place where it was begun, where its stack has none of the program. */
  place(error: unknown): void;
}

/** The pending work of one run. */
export interface Pending {
  begin(kind: Work["kind"], name: string, server?: string): BegunWork;
  /** Whether any work goes on. */
  isLeft(): boolean;
  /** Lists pending work, oldest first, as the items of a JSON array. */
  list(): string;
}

/** @param onEnd - Called at the end of each piece of work, before the program goes on. */
export function createPending(primordials: Primordials, onEnd: () => void): Pending {
  const { constructors, create, defineValue, includesText, indexOfText, isInstance, keys, sliceText } =
    primordials;
  const { quote } = primordials;
  /** The most pieces of work that are listed. */
  const MAX_LISTED = 20;
  const PROGRAM = "blob:program:";
  const works = create(null) as Record<number, Work>;
  let next = 0;
  let count = 0;

  /** Adds the program's stack frames to an error without any. An awaited error has them already. */
  function addPlace(error: unknown, place: Error): void {
    try {
      if (!isInstance(constructors.Error, error)) return;
      const { stack } = error as Error;
      const begun = place.stack;
      if (typeof stack !== "string" || typeof begun !== "string" || includesText(stack, PROGRAM)) return;
      const frames = indexOfText(begun, "\n", 0);
      if (frames !== -1) defineValue(error as Error, "stack", stack + sliceText(begun, frames), false);
    } catch {
      // The program decides what a stack is.
    }
  }

  return {
    begin(kind, name, server = "") {
      const id = next;
      next += 1;
      count += 1;
      const place = new constructors.Error();
      works[id] = { __proto__: null, kind, server, name, place } as never;
      return {
        end() {
          delete works[id];
          count -= 1;
          onEnd();
        },
        place: (error) => addPlace(error, place),
      };
    },
    isLeft: () => count > 0,
    list() {
      const ids = keys(works);
      let listed = "";
      for (let index = 0; index < ids.length && index < MAX_LISTED; index += 1) {
        const { kind, server, name, place } = works[ids[index] as unknown as number] as Work;
        const named = `"server":${quote(server)},"name":${quote(name)}`;
        const stack = quote(primordials.toText(place.stack));
        listed += `${index > 0 ? "," : ""}{"kind":"${kind}",${named},"leftMs":0,"stack":${stack}}`;
      }
      return listed;
    },
  };
}

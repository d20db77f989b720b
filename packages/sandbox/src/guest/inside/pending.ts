import type { Primordials } from "./primordials.ts";

/** What a program has begun and what has not ended yet. */
export interface Work {
  kind: "call" | "operation";
  /** The server of a call; empty for an operation. */
  server: string;
  /** The tool of a call, or the function of the runtime. */
  name: string;
  /** Its stack says where the work was begun. */
  place: Error;
}

/** The pending work of one run. */
export interface Pending {
  /** Notes work; gives the function that notes its end. */
  begin(kind: Work["kind"], name: string, server?: string): () => void;
  /** Lists up to `limit` pieces of pending work, oldest first. */
  list(limit: number): Work[];
}

/** @param onEnd - Called at the end of each piece of work, before the program goes on. */
export function createPending(primordials: Primordials, onEnd: () => void): Pending {
  const { constructors, create, defineValue, keys } = primordials;
  const works = create(null) as Record<number, Work>;
  let next = 0;
  return {
    begin(kind, name, server = "") {
      const id = next;
      next += 1;
      works[id] = { __proto__: null, kind, server, name, place: new constructors.Error() } as never;
      return () => {
        delete works[id];
        onEnd();
      };
    },
    list(limit) {
      const ids = keys(works);
      const listed: Work[] = [];
      for (let index = 0; index < ids.length && index < limit; index += 1) {
        defineValue(listed, `${index}`, works[ids[index] as unknown as number], true);
      }
      return listed;
    },
  };
}

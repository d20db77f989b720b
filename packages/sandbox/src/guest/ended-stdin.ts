import { deno } from "./deno.ts";
import { changeProcess } from "./global-process.ts";

type Members = Record<string, unknown>;
type Callable = (...args: unknown[]) => unknown;

const STDIN = 0;
const changed = new WeakSet<object>();

/** Makes stdin look closed to programs: it carries the host's messages. */
export function endStdin(): void {
  const ended = {
    read: async () => null,
    readSync: () => null,
    close: () => {},
    isTerminal: () => false,
    get readable() {
      return new Blob([]).stream();
    },
  };
  Object.defineProperty(deno, "stdin", { value: ended, configurable: true, enumerable: true });
  changeProcess((process) => {
    endStdinOf("process", process);
    return process;
  });
}

export function endStdinOf(name: string, members: Members): void {
  if (changed.has(members)) return;
  changed.add(members);
  if (name === "process") {
    const getBuiltin = members["getBuiltinModule"] as (name: string) => Members;
    let stdin: unknown;
    const get = () =>
      (stdin ??= ((getBuiltin("node:stream")["Readable"] as Members)["from"] as Callable)([]));
    Object.defineProperty(members, "stdin", { configurable: true, enumerable: true, get });
  }
  if (name !== "fs") return;
  const { readSync, readFileSync } = members as Record<string, Callable>;
  if (readSync !== undefined)
    members["readSync"] = (...args: unknown[]) => (args[0] === STDIN ? 0 : readSync(...args));
  if (readFileSync !== undefined)
    members["readFileSync"] = (...args: unknown[]) => {
      if (args[0] !== STDIN) return readFileSync(...args);
      const encoding = (args[1] as { encoding?: string } | undefined)?.encoding ?? args[1];
      return typeof encoding === "string" ? "" : Buffer.alloc(0);
    };
}

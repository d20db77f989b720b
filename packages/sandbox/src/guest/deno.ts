import { keys } from "./primordials.ts";

const STANDARD_STREAMS = 3;

/** A file that is open for reading. */
export interface GuestFile {
  /** Resolves with `null` at the end of the file. */
  read(buffer: Uint8Array): Promise<number | null>;
  seek(offset: number, whence: 0): Promise<number>;
  stat(): Promise<{ size: number }>;
  close(): void;
}

/** The parts of Deno that the guest runner itself uses. */
export interface DenoRuntime {
  stderr: {
    writeSync(bytes: Uint8Array): number;
    write(bytes: Uint8Array): Promise<number>;
  };
  readonly version: { deno: string };
  exit(code?: number): never;
  open(path: string): Promise<GuestFile>;
  statSync(path: string): { isFile: boolean };
  readDirSync(path: string): Iterable<{ name: string; isDirectory: boolean }>;
  readonly internal: symbol;
  [key: string | symbol]: unknown;
}

export const deno: DenoRuntime = (globalThis as unknown as { Deno: DenoRuntime }).Deno;

interface DenoInternal {
  core: {
    /** Resolves with 0 at the end of the stream. */
    read(resource: number, buffer: Uint8Array): Promise<number>;
    writeSync(resource: number, bytes: Uint8Array): number;
    /** The script's result and error. */
    evalContext(this: void, source: string, url: string): { 0: unknown; 1: unknown };
    setLeakTracingEnabled(enabled: boolean): void;
    /** Operations and timers that have not ended. */
    getAllLeakTraces(): { size: number };
    getActiveImmediateCount(): number;
    /** Open resources, such as files, by number. */
    resources(): Record<string, string>;
  };
  Console: new (print: (text: string, level: number) => void) => Console;
}

const internals = deno[deno.internal] as DenoInternal;

/** Deno's console with a custom output. */
export const { Console } = internals;
// The operations themselves: what Deno wraps around them can be broken by a program that patches the language.
const { core } = internals;
export const readStdin = (buffer: Uint8Array): Promise<number> => core.read(0, buffer);
export const writeStdoutSync = (bytes: Uint8Array): number => core.writeSync(1, bytes);

const { evalContext } = core;
/** Evaluates a script in the global scope; `undefined` when it can't be. */
export function evaluateScript(source: string, url: string): unknown {
  const outcome = evalContext(source, url);
  return outcome[1] === null || outcome[1] === undefined ? outcome[0] : undefined;
}

/** Pending work and open resources of the runtime. */
export const pendingWork = {
  /** Takes the current state as the baseline. */
  observe(): void {
    core.setLeakTracingEnabled(true);
  },
  /** To be called right after a message arrived, when the runner itself has no pending read or timer. */
  isLeft(): boolean {
    if (core.getAllLeakTraces().size > 0 || core.getActiveImmediateCount() > 0) return true;
    return keys(core.resources()).length > STANDARD_STREAMS;
  },
};

interface UncaughtEvent extends Event {
  reason?: unknown;
  error?: unknown;
}

const target = globalThis as unknown as {
  addEventListener(type: string, listener: (event: UncaughtEvent) => void): void;
};

/** Handles uncaught errors of the program, which would otherwise end the process. */
export function onUncaught(report: (thrown: unknown) => void): void {
  target.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    report(event.reason);
  });
  target.addEventListener("error", (event) => {
    event.preventDefault();
    report(event.error);
  });
}

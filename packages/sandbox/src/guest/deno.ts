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
    /** What a script gave, and what went wrong. */
    evalContext(this: void, source: string, url: string): { 0: unknown; 1: unknown };
    setLeakTracingEnabled(enabled: boolean): void;
    /** Operations and timers that have not ended. */
    getAllLeakTraces(): { size: number };
    getActiveImmediateCount(): number;
    /** Open files and the like, by their numbers. */
    resources(): Record<string, string>;
  };
  Console: new (print: (text: string, level: number) => void) => Console;
}

const internals = deno[deno.internal] as DenoInternal;

/** Deno's own console, writing where it is told. */
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

/** What the runtime still does or holds for a program. */
export const pendingWork = {
  /** Counts from here on. */
  observe(): void {
    core.setLeakTracingEnabled(true);
  },
  /** To be asked when a message has just come: then nothing is read, and no timer of the runner runs. */
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

/** Hears of errors that nobody in the program caught, which would end the process. */
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

import type { OuterRealm } from "./inside/membrane-types.ts";

const STANDARD_STREAMS = 3;
/** The runner waits for the next message. */
const OWN_READS = 1;

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
  chdir(path: string): void;
  open(path: string): Promise<GuestFile>;
  readTextFileSync(path: string): string;
  readDirSync(path: string): Iterable<{ name: string; isDirectory: boolean }>;
  inspect: object;
  readonly PermissionStatus: { prototype: object };
  readonly errors: { NotFound: new () => Error };
  readonly internal: symbol;
  [key: string | symbol]: unknown;
}

export const deno: DenoRuntime = (globalThis as unknown as { Deno: DenoRuntime }).Deno;

type Test = (value: unknown) => boolean;

interface DenoInternal {
  core: {
    /** Resolves with 0 at the end of the stream. */
    read(resource: number, buffer: Uint8Array): Promise<number>;
    writeSync(resource: number, bytes: Uint8Array): number;
    setLeakTracingEnabled(enabled: boolean): void;
    /** Operations and timers that have not ended. */
    getAllLeakTraces(): { size: number };
    getActiveImmediateCount(): number;
    /** Open resources, such as files, by number. */
    resources(): Record<string, string>;
    /** The state of a promise, 0 while it is pending, and its value. */
    getPromiseDetails(promise: Promise<unknown>): [state: number, value: unknown];
    isAnyArrayBuffer: Test;
    isArrayBufferView: Test;
    isDate: Test;
    isMap: Test;
    isNativeError: Test;
    isPromise: Test;
    isRegExp: Test;
    isSet: Test;
  };
  Console: new (print: (text: string, level: number) => void) => Console;
}

const internals = deno[deno.internal] as DenoInternal;

/** Deno's console with a custom output. */
export const { Console } = internals;
const { core } = internals;
export const readStdin = (buffer: Uint8Array): Promise<number> => core.read(0, buffer);
export const writeStdoutSync = (bytes: Uint8Array): number => core.writeSync(1, bytes);

/** Tests of what an object is, for objects of any realm. */
export const brands: OuterRealm["is"] = {
  anyArrayBuffer: core.isAnyArrayBuffer,
  arrayBufferView: core.isArrayBufferView,
  date: core.isDate,
  map: core.isMap,
  nativeError: core.isNativeError,
  promise: core.isPromise,
  regExp: core.isRegExp,
  set: core.isSet,
};

const { getPromiseDetails } = core;
export const isSettled = (promise: Promise<unknown>): boolean => getPromiseDetails(promise)[0] !== 0;

/** Pending work and open resources of the runtime. */
export const pendingWork = {
  /** Takes the current state as the baseline. */
  observe(): void {
    core.setLeakTracingEnabled(true);
  },
  /** Whether there is any beside the runner's own reading. */
  isLeft(): boolean {
    if (core.getAllLeakTraces().size > OWN_READS || core.getActiveImmediateCount() > 0) return true;
    return Object.keys(core.resources()).length > STANDARD_STREAMS;
  },
};

interface UncaughtEvent extends Event {
  promise?: object;
  reason?: unknown;
  error?: unknown;
}

const target = globalThis as unknown as {
  addEventListener(type: string, listener: (event: UncaughtEvent) => void): void;
};

/** Handles uncaught errors of programs, which would otherwise end the process, and rejections that nobody handles. */
export function onUncaught(report: (thrown: unknown, promise: object | undefined) => void): void {
  target.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    report(event.reason, event.promise);
  });
  target.addEventListener("error", (event) => {
    event.preventDefault();
    report(event.error, undefined);
  });
}

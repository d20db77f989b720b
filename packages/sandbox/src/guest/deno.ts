export interface GuestFile {
  /** Returns `null` at the end of the file. */
  readSync(buffer: Uint8Array): number | null;
  seekSync(offset: number, whence: 0): number;
  statSync(): { size: number };
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
  unrefTimer(id: number): void;
  openSync(path: string): GuestFile;
  readTextFileSync(path: string): string;
  statSync(path: string): unknown;
  readDirSync(path: string): Iterable<{ name: string; isDirectory: boolean }>;
  inspect: object;
  readonly errors: { NotFound: new () => Error; IsADirectory: new () => Error; NotCapable: object };
  readonly internal: symbol;
  [key: string | symbol]: unknown;
}

export const deno: DenoRuntime = (globalThis as unknown as { Deno: DenoRuntime }).Deno;

interface DenoInternal {
  core: {
    /** Resolves with 0 at the end of the stream. */
    read(resource: number, buffer: Uint8Array): Promise<number>;
    readSync(resource: number, buffer: Uint8Array): number;
    refOpPromise(promise: Promise<unknown>): void;
    unrefOpPromise(promise: Promise<unknown>): void;
    /** Whether any referenced work is pending. */
    eventLoopHasMoreWork(): boolean;
    isProxy(value: unknown): boolean;
    writeSync(resource: number, bytes: Uint8Array): number;
  };
  Console: new (print: (text: string, level: number) => void) => Console;
}

const internals = deno[deno.internal] as DenoInternal;

/** Deno's console with a custom output. */
export const { Console } = internals;
const { core } = internals;
export const readStdin = (buffer: Uint8Array): Promise<number> => core.read(0, buffer);
export const { eventLoopHasMoreWork, refOpPromise, unrefOpPromise } = core;
const { isProxy } = core;
const { getPrototypeOf } = Object;
export const readStdinSync = (buffer: Uint8Array): number => core.readSync(0, buffer);
export const writeStdoutSync = (bytes: Uint8Array): number => core.writeSync(1, bytes);

/**
 * `instanceof` for types of the guest's own realm. Safe for any value of a program: `instanceof` itself would call a
 * proxy's trap, which receives its arguments in a list of the realm that asks.
 */
export function isOwn<Own>(value: unknown, type: { readonly prototype: Own }): value is Own {
  for (let at = value; typeof at === "object" && at !== null && !isProxy(at); at = getPrototypeOf(at))
    if (at === type.prototype) return true;
  return false;
}

/** Captured before any program runs. */
const startTimer = setTimeout;

/** Starts a timer that is no work of the runtime. */
export function startQuietTimer(action: () => void, ms: number): number {
  const timer = startTimer(action, ms) as unknown as number;
  deno.unrefTimer(timer);
  return timer;
}

interface UncaughtEvent extends Event {
  reason?: unknown;
  error?: unknown;
}

const target = globalThis as unknown as {
  addEventListener(type: string, listener: (event: UncaughtEvent) => void): void;
};

/** Captured before any program runs. */
const { preventDefault } = Event.prototype;
const prevent: (event: Event) => void = preventDefault.call.bind(preventDefault);

/** Calls a function whenever no referenced work is pending. The guest keeps running. */
export function onIdle(listener: () => void): void {
  target.addEventListener("beforeunload", (event) => {
    prevent(event);
    listener();
  });
}

/** Handles unhandled rejections, and uncaught errors of programs, which would otherwise end the process. */
export function onUncaught(report: (thrown: unknown) => void): void {
  target.addEventListener("unhandledrejection", (event) => {
    prevent(event);
    report(event.reason);
  });
  target.addEventListener("error", (event) => {
    prevent(event);
    report(event.error);
  });
}

/** The parts of Deno that the guest runner itself uses. */
export interface DenoRuntime {
  stdin: { read(buffer: Uint8Array): Promise<number | null> };
  stdout: { writeSync(bytes: Uint8Array): number };
  stderr: {
    writeSync(bytes: Uint8Array): number;
    write(bytes: Uint8Array): Promise<number>;
  };
  exit(code?: number): never;
  readDirSync(path: string): Iterable<{ name: string; isDirectory: boolean }>;
  readonly internal: symbol;
  [key: string | symbol]: unknown;
}

export const deno: DenoRuntime = (globalThis as unknown as { Deno: DenoRuntime }).Deno;

interface DenoInternal {
  Console: new (print: (text: string, level: number) => void) => Console;
}

const internals = deno[deno.internal] as DenoInternal;

/** Deno's own console, writing where it is told. */
export const { Console } = internals;

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

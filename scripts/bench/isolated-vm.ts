import { createRequire } from "node:module";
import path from "node:path";

const MEMORY_MB = 128;
/** The counterpart of a guest's program: an asynchronous function that calls one tool on the host. */
const PROGRAM = `(async () => JSON.parse(await call.apply(undefined, [JSON.stringify({ a: 5, b: 3 })], { result: { promise: true } })))()`;

/** The parts of isolated-vm used here; the package is not one of ours. */
interface IsolatedVm {
  Isolate: new (options: { memoryLimit: number }) => {
    createContext(): Promise<{
      global: { set(name: string, value: unknown): Promise<void> };
      eval(code: string, options: { promise: boolean; copy: boolean }): Promise<{ a: number }>;
    }>;
    dispose(): void;
  };
  Reference: new (implementation: (json: string) => Promise<string>) => unknown;
}

/**
 * A run in an isolate of its own within this process, by the isolated-vm that is installed in `folder`
 * (`npm install isolated-vm` there).
 */
export function isolatedVmRun(folder: string): () => Promise<void> {
  const { Isolate, Reference } = createRequire(path.resolve(folder, "package.json"))(
    "isolated-vm",
  ) as IsolatedVm;
  return async () => {
    const isolate = new Isolate({ memoryLimit: MEMORY_MB });
    try {
      const context = await isolate.createContext();
      await context.global.set("call", new Reference(async (json) => json));
      const { a } = await context.eval(PROGRAM, { promise: true, copy: true });
      if (a !== 5) throw new Error(`isolated-vm gave ${a}`);
    } finally {
      isolate.dispose();
    }
  };
}

import { deno } from "./deno.ts";
import { toGuestPath } from "./paths.ts";

type WorkerClass = new (specifier: string | URL, options?: object) => object;

/** Where the host's paths can show, guests without a file system view of their own show those that they would have. */
export function hideHost(): void {
  const executable = toGuestPath((deno["execPath"] as () => string)());
  deno["execPath"] = () => executable;
  Object.defineProperty(deno, "mainModule", { value: toGuestPath(deno["mainModule"] as string) });
  confineWorkers(executable);
}

/** Threads have a runtime of their own, which tells the host's paths to whoever may read. */
function confineWorkers(executable: string): void {
  const outer = globalThis as unknown as { Worker: WorkerClass };
  const prelude = `Deno.execPath = () => ${JSON.stringify(executable)}; Deno.cwd = () => "/workspace";
process.execPath = process.argv0 = process.title = Deno.execPath(); process.argv.length = 0; process.cwd = Deno.cwd;`;
  const { Worker } = outer;
  outer.Worker = class extends Worker {
    constructor(specifier: string | URL, options?: object) {
      const text = `${prelude}\nawait import(${JSON.stringify(String(specifier))});`;
      const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      super(url, { ...options, type: "module", deno: { permissions: "none" } });
    }
  };
  Object.defineProperty(outer.Worker, "name", { value: "Worker" });
}

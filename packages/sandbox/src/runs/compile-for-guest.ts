import { Lazy, moduleBeside, offload } from "@cem/core";
import type { CompiledForGuest } from "./compile-work.ts";

const compiler = new Lazy(() => import("./compile-work.ts"));

/** Compiles a program. Loads the compiler on first use. */
export async function compileForGuest(code: string, signal?: AbortSignal): Promise<CompiledForGuest> {
  const { compile, isQuicklyRead } = await compiler.get();
  if (isQuicklyRead(code)) return compile(code);
  const module = moduleBeside("compile-work", import.meta.url);
  return offload(
    () => ({ module, name: "compile", args: [code], signal }),
    () => compile(code),
  );
}

/** Loads the compiler ahead of the first run, for instance while the first guest boots. */
export async function preloadCompiler(): Promise<void> {
  await compileForGuest("export default 1;");
}

import { type CheckAnswer, type CheckBounds, CheckSession } from "./check-session.ts";
import { findCompiler } from "./compiler-package.ts";
import type { ToolFolders } from "./host-files.ts";
import type { CheckRequest } from "./program-checker.ts";

/** Inputs of a check in another thread. */
export interface CheckWork {
  folders: ToolFolders;
  bounds: CheckBounds;
  request: CheckRequest;
  /** Whether the files that the check depends on are asked for. */
  cached: boolean;
}

/** The compiler of this thread, for the folders that it was started with. It ends with the thread. */
let current: { key: string; session: CheckSession } | undefined;

/** Checks one program, on the thread that it is called on. */
export async function check({ folders, bounds, request, cached }: CheckWork): Promise<CheckAnswer> {
  const key = JSON.stringify([folders, bounds]);
  if (current !== undefined && (current.key !== key || current.session.ended)) {
    await current.session.dispose();
    current = undefined;
  }
  if (current === undefined) {
    const compiler = findCompiler();
    if ("missing" in compiler) return { ok: false, reason: compiler.missing };
    current = { key, session: new CheckSession(compiler, folders, bounds) };
  }
  return current.session.check(request, { cached });
}

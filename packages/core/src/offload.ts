/** Work that may take long: a function that a module exports. */
export interface OffloadedWork {
  /** The URL of the module. */
  module: URL;
  /** The name of the function. */
  name: string;
  /** Its arguments. They and the result are cloned, but for what the result lists as its `transfer`. */
  args: readonly unknown[];
  /** Parts of the arguments that are handed over instead of cloned. */
  transfer?: readonly ArrayBuffer[] | undefined;
  /** The timeout in milliseconds. Default: that of the threads. */
  timeoutMs?: number | undefined;
  /** Ends the work, also while it is at it. */
  signal?: AbortSignal | undefined;
}

/** Does work away from the thread that serves others. */
export interface WorkThreads {
  /** @throws CemError `INPUT_TOO_LARGE` for work that takes too long or needs too much memory. */
  run(work: OffloadedWork): Promise<unknown>;
}

/** The threads of this process, those started last at the end. */
const started: WorkThreads[] = [];

/**
 * Has work that may take long done by these threads from now on. Without any it is done where it comes up.
 *
 * @returns a function that takes them away again.
 */
export function useWorkThreads(threads: WorkThreads): () => void {
  started.push(threads);
  return () => {
    const at = started.indexOf(threads);
    if (at !== -1) started.splice(at, 1);
  };
}

/** Whether work that may take long is done by threads. */
export function hasWorkThreads(): boolean {
  return started.length > 0;
}

/**
 * Has work done by the process's threads, where there are any.
 *
 * @param describe - Describes the work. Called only where there are threads.
 * @param here - The same work, done on this thread: without threads, and where something of it can't be cloned.
 */
export async function offload<Result>(
  describe: () => OffloadedWork | Promise<OffloadedWork>,
  here: () => Result | Promise<Result>,
): Promise<Result> {
  const threads = started.at(-1);
  if (threads === undefined) return here();
  try {
    return (await threads.run(await describe())) as Result;
  } catch (error) {
    if (error instanceof Error && error.name === "DataCloneError") return here();
    throw error;
  }
}

/**
 * The URL of a module that a thread loads: a source beside the one that asks, or a built file beside it.
 *
 * @param name - The file's name without its extension.
 * @param asker - `import.meta.url` of the module that asks.
 */
export function moduleBeside(name: string, asker: string): URL {
  return new URL(`./${name}.${asker.endsWith(".ts") ? "ts" : "js"}`, asker);
}

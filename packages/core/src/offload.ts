/** Work that may take long: a function that a module exports. */
export interface OffloadedWork {
  /** The URL of the module. */
  module: URL;
  /** The name of the function. */
  name: string;
  /** Its arguments. They and the result are cloned, except what the result lists as its `transfer`. */
  args: readonly unknown[];
  /** Parts of the arguments that are transferred instead of cloned. */
  transfer?: readonly ArrayBuffer[] | undefined;
  /** The timeout in milliseconds. Default: that of the threads. */
  timeoutMs?: number | undefined;
  /** Ends the work, even while it is running. */
  signal?: AbortSignal | undefined;
}

/** Runs work off the thread that serves requests. */
export interface WorkThreads {
  /** @throws CemError `INPUT_TOO_LARGE` for work that takes too long or needs too much memory. */
  run(work: OffloadedWork): Promise<unknown>;
}

/** The threads of this process, most recently started last. */
const started: WorkThreads[] = [];

/**
 * Registers threads for long work. Without any, such work runs on the calling thread.
 *
 * @returns a function that unregisters them.
 */
export function useWorkThreads(threads: WorkThreads): () => void {
  started.push(threads);
  return () => {
    const at = started.indexOf(threads);
    if (at !== -1) started.splice(at, 1);
  };
}

/** Whether threads do long work. */
export function hasWorkThreads(): boolean {
  return started.length > 0;
}

/**
 * Runs work on the process's threads, if there are any.
 *
 * @param describe - Describes the work. Called only where there are threads.
 * @param here - The same work on this thread, for when there are no threads or its data can't be cloned.
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
 * The URL of a module that a thread loads: a source file or a built file beside the module that asks.
 *
 * @param name - The file's name without its extension.
 * @param asker - `import.meta.url` of the module that asks.
 */
export function moduleBeside(name: string, asker: string): URL {
  return new URL(`./${name}.${asker.endsWith(".ts") ? "ts" : "js"}`, asker);
}

import type * as InThread from "./run-in-thread.ts";

/**
 * Serves over HTTP as `runServer` does, with all work in a thread of its own: accepting clients and `/healthz` do not
 * wait for it. Where that thread stops or hangs, its requests fail, and another one takes its place.
 *
 * @throws CemError as `runServer`.
 */
export const runServerInThread = async (
  ...[options, onRestart]: Parameters<typeof InThread.runServerInThread>
): Promise<InThread.ThreadServer> =>
  (await import("./run-in-thread.ts")).runServerInThread(options, onRestart);

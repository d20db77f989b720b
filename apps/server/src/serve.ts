import { runServer, runWorker, toErrorInfo } from "code-execution-mcp";

/**
 * Serves over HTTP until a signal stops it, then gives calls in progress `server.shutdown_grace` to finish.
 *
 * @returns the exit code of the process.
 */
export function serve(): Promise<number> {
  return exitCodeOf(async () => {
    const running = await runServer({ transport: "http" });
    onStop(() => void running.close());
    await running.closed;
    await running.close();
  });
}

/**
 * Executes runs from the queue until a signal stops it, then finishes those in progress.
 *
 * @returns the exit code of the process.
 */
export function work(): Promise<number> {
  return exitCodeOf(async () => {
    const running = await runWorker();
    await new Promise<void>((resolve) => onStop(resolve));
    await running.close();
  });
}

/** Logs why the server can't run as one line, with advice. */
async function exitCodeOf(run: () => Promise<void>): Promise<number> {
  try {
    await run();
    return 0;
  } catch (thrown) {
    const { hintFor } = await import("code-execution-mcp/admin");
    const error = toErrorInfo(thrown);
    const { code, message } = error;
    const line = { level: "fatal", code, message, hint: hintFor(error) };
    process.stderr.write(`${JSON.stringify(line)}\n`);
    return 1;
  }
}

/** Not `once`: a library that finds no other listener for a signal ends the process. */
function onStop(stop: () => void): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
}

import { runServer, runWorker, toErrorInfo } from "code-execution-mcp";

/**
 * Serves over HTTP until a signal stops it, then gives calls in progress `server.shutdown_grace` to finish.
 *
 * @returns the exit code of the process.
 */
export async function serve(): Promise<number> {
  try {
    const running = await runServer({ transport: "http" });
    onStop(() => void running.close());
    await running.closed;
    await running.close();
    return 0;
  } catch (error) {
    await report(error);
    return 1;
  }
}

/**
 * Executes runs from the queue until a signal stops it, then finishes those in progress.
 *
 * @returns the exit code of the process.
 */
export async function work(): Promise<number> {
  try {
    const running = await runWorker();
    await new Promise<void>((resolve) => onStop(resolve));
    await running.close();
    return 0;
  } catch (error) {
    await report(error);
    return 1;
  }
}

/** Not `once`: a library that finds no other listener for a signal ends the process. */
function onStop(stop: () => void): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
}

/** Logs why the server can't run as one line, with advice. */
async function report(thrown: unknown): Promise<void> {
  const { hintFor } = await import("code-execution-mcp/admin");
  const error = toErrorInfo(thrown);
  const { code, message } = error;
  log({ level: "fatal", code, message, hint: hintFor(error) });
}

function log(line: object): void {
  process.stderr.write(`${JSON.stringify(line)}\n`);
}

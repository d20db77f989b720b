#!/usr/bin/env node
import { runServer, toErrorInfo } from "code-execution-mcp";

/** Serves over HTTP until it is told to stop, and then lets what runs finish. */
async function main(): Promise<void> {
  const running = await runServer({ transport: "http" });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void running.close());
  }
  await running.closed;
  await running.close();
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const { code, message } = toErrorInfo(error);
  process.stderr.write(`${JSON.stringify({ level: "fatal", code, message })}\n`);
  process.exit(1);
}

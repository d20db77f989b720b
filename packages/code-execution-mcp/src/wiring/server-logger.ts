import type { Config } from "@cem/config";
import type { Logger } from "@cem/mcp-server";
import type { Log } from "./log.ts";

/** The log of a server or worker, one JSON object a line. Loaded when used: running tasks does not need it. */
export async function loggerOf({ logging: { level, file } }: Config): Promise<Logger> {
  const { createLogger } = await import("@cem/mcp-server");
  return createLogger({ level, file });
}

/** Writes what an agent logs to the server's log. */
export function logTo(logger: Logger): Log {
  const methods = {
    debug: "debug",
    info: "info",
    warning: "warn",
    error: "error",
    critical: "fatal",
  } as const;
  return (level, message) => logger[methods[level]]({ from: "agent" }, message);
}

import type { ErrorInfo } from "@cem/core";
import type { ConfigSource, RunServerOptions } from "../options.ts";

/** What a server in a thread of its own is made from. It crosses to the thread, so it has no functions. */
export interface ThreadServerOptions
  extends ConfigSource, Pick<RunServerOptions, "profile" | "expose" | "host" | "port"> {
  transport: "http" | "sse";
  /** A module with custom tools, which the thread loads. */
  customToolFile?: string | undefined;
}

/** What the thread is started with. */
export interface ThreadData {
  options: ThreadServerOptions;
  /** Where the server listens for the front. */
  socketPath: string;
  /** Folder of the compile cache, where the process has one. */
  compileCache: string | undefined;
}

/** To the thread. */
export type ToThread =
  | { type: "listening"; port: number }
  | { type: "listen-failed"; error: ErrorInfo }
  | { type: "close"; graceMs: number | undefined }
  | { type: "ping" };

/** From the thread. */
export type FromThread =
  | { type: "listen"; host: string; port: number; trustedProxies: readonly string[] }
  | { type: "serving"; url: string }
  | { type: "failed"; error: ErrorInfo }
  | { type: "stop-listening" }
  | { type: "closed" }
  | { type: "pong" };

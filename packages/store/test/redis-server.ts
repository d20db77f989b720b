import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { freePort } from "./free-port.ts";

/** A real server on this machine's loopback, which keeps what it has on disk. */
export interface RedisServer {
  url: string;
  /** Has it answer nothing any more, with its connections open. */
  hang(): void;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, with what it had on disk. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** @param host - The address that it listens on. */
export async function startRedis(host = "127.0.0.1"): Promise<RedisServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "redis-"));
  const port = await freePort();
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    const command = spawnSync("redis-server", ["--version"]).status === 0 ? "redis-server" : "valkey-server";
    server = spawn(
      command,
      [
        "--port",
        String(port),
        "--bind",
        host,
        "--protected-mode",
        "no",
        "--dir",
        folder,
        "--appendonly",
        "yes",
        "--save",
        "",
      ],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    for await (const line of server.stdout ?? [])
      if (/ready to accept connections/i.test(String(line))) break;
  };
  const kill = async (): Promise<void> => {
    const gone = once(server, "exit");
    server.kill("SIGKILL");
    await gone;
  };
  await start();
  return {
    url: `redis://${host}:${port}/0`,
    hang: () => void server.kill("SIGSTOP"),
    kill,
    start,
    stop: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

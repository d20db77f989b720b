import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { findPostgresql } from "../../../vitest.tools.ts";

const binaries = findPostgresql();

/** A real server on this machine's loopback. */
export interface PostgresServer {
  url: string;
  /** The process that all its others come from. */
  readonly pid: number;
  /** How many transactions were committed. */
  commits(): Promise<number>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  if (binaries === undefined) throw new Error("There is no PostgreSQL on this machine.");
  // The temporary folder of a test run is its owner's alone, and the server runs as somebody else.
  const folder = mkdtempSync("/tmp/cem-postgres-");
  const data = path.join(folder, "data");
  // It refuses to run as root.
  const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const port = await freePort();
  const run = { ...owner, cwd: folder, env: { ...process.env, LC_ALL: "C" } };
  execFileSync(
    path.join(binaries, "initdb"),
    ["-D", data, "-U", "cem", "-A", "trust", "--no-sync", "--no-instructions"],
    { ...run, stdio: "ignore" },
  );
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    server = spawn(
      path.join(binaries, "postgres"),
      ["-D", data, "-k", "", "-h", "127.0.0.1", "-p", String(port)],
      { ...run, stdio: ["ignore", "ignore", "pipe"] },
    );
    for await (const line of server.stderr ?? []) if (/ready to accept connections/.test(String(line))) break;
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const gone = once(server, "exit");
    server.kill(signal);
    await gone;
  };
  await start();
  return {
    get pid() {
      return server.pid ?? 0;
    },
    async commits() {
      const client = new Client(`postgresql://cem@127.0.0.1:${port}/postgres`);
      await client.connect();
      const { rows } = await client.query<{ commits: string }>(
        "select sum(xact_commit) as commits from pg_stat_database",
      );
      await client.end();
      return Number(rows[0]?.commits);
    },
    url: `postgresql://cem@127.0.0.1:${port}/postgres`,
    // Its other processes notice that they are alone; a plain kill would leave them for a while.
    kill: () => end("SIGQUIT"),
    start,
    stop: async () => {
      await end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

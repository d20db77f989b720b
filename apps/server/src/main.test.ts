import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");
const TOKEN = "a-token-for-this-test-only";

interface Started {
  child: ChildProcess;
  log: () => string;
}

/** Starts the server as a process that ends with the test, in a folder that goes with it. */
function start(env: Record<string, string>): Started {
  const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-server-app-"));
  const args = ["--conditions=@cem/source", path.join(import.meta.dirname, "main.ts")];
  const child = spawn(process.execPath, args, {
    cwd,
    env: {
      PATH: process.env["PATH"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      SERVERS_DIR: path.join(root, "servers"),
      CEM_SERVER_PORT: "0",
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  onTestFinished(async () => {
    if (child.kill("SIGKILL")) await once(child, "close");
    rmSync(cwd, { recursive: true, force: true });
  });
  return { child, log: () => log };
}

describe("the server process", () => {
  it("listens as the environment says, gets ready, and stops cleanly", async () => {
    const { child, log } = start({ CEM_SERVER_HOST: "0.0.0.0", CEM_SERVER_TOKEN: TOKEN });
    await expect.poll(log).toContain('"msg":"listening on every address');
    const [, port = ""] = /localhost:(\d+)\/mcp/.exec(log()) ?? [];
    const at = (route: string) => fetch(`http://127.0.0.1:${port}${route}`);
    expect((await at("/healthz")).status).toBe(200);
    await expect.poll(async () => (await at("/readyz")).status).toBe(200);
    expect((await at("/metrics")).status).toBe(401);
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([0, null]);
    expect(log()).not.toContain(TOKEN);
    for (const line of log().trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("level");
  });

  it("says why it can't start and what helps, in one line", async () => {
    const { child, log } = start({ CEM_SERVER_HOST: "0.0.0.0" });
    expect(await once(child, "close")).toEqual([1, null]);
    expect(JSON.parse(log())).toMatchObject({
      level: "fatal",
      code: "ADDRESS_REFUSED",
      hint: expect.stringContaining("CEM_SERVER_TOKEN"),
    });
  });
});

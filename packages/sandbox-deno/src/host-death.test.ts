import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { availableBackends } from "./testing/backends.ts";

const backends = await availableBackends();

const GONE_WITHIN_MS = 5_000;
const index = fileURLToPath(new URL("./index.ts", import.meta.url));

/** A host that starts endless guests, says so, and never ends by itself. */
const HOST = `
const { createDenoSandboxProvider } = await import(process.argv[1]);
const sandbox = await createDenoSandboxProvider({ isolation: process.argv[2] }).create({ workspaceDir: process.argv[3] });
for (const code of ["console.log('up'); while (true) {}", "console.log('up'); await new Promise((go) => setTimeout(go, 600_000))"]) {
  void sandbox.run({ code, onOutput: () => process.stdout.write("up ") });
}
setInterval(() => {}, 1000);
`;

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function below(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...below(child)]);
}

function isLiving(pid: number): boolean {
  const state = /^State:\s+(\w)/m.exec(read(`/proc/${pid}/status`))?.[1];
  return state !== undefined && state !== "Z" && state !== "X";
}

describe.skipIf(process.platform !== "linux")("a host that is killed", () => {
  const folder = mkdtempSync(join(tmpdir(), "cem-death-"));
  const workspaceDir = join(folder, "workspace");
  // A killed host can't remove its own folder, so it gets a temporary directory that the test removes.
  const temporaryDir = join(folder, "temporary");
  for (const path of [workspaceDir, temporaryDir]) mkdirSync(path);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(backends)("leaves no guest behind: $isolation", async ({ isolation }) => {
    const args = [
      "--conditions=@cem/source",
      "--input-type=module",
      "-e",
      HOST,
      index,
      isolation,
      workspaceDir,
    ];
    const host = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: temporaryDir },
    });
    let said = "";
    await new Promise<void>((resolve, reject) => {
      host.once("exit", () => reject(new Error("The host ended by itself.")));
      host.stdout.on("data", (chunk) => {
        said += String(chunk);
        if (said.match(/up/g)?.length === 2) resolve();
      });
    });
    const guests = below(host.pid ?? 0);
    onTestFinished(() => void host.kill("SIGKILL"));
    expect(guests.length).toBeGreaterThanOrEqual(2);
    host.removeAllListeners("exit");
    host.kill("SIGKILL");
    await expect.poll(() => guests.filter(isLiving), { timeout: GONE_WITHIN_MS }).toEqual([]);
  });
});

/** A host that opens as many files as it may, and then starts a guest. */
const FULL_HOST = `
const { closeSync, openSync } = await import("node:fs");
const { startGuest } = await import(process.argv[1]);
const plan = () => ({ file: process.execPath, args: [], env: {}, cwd: "/", init: {} });
const opened = [];
let failure;
try { for (;;) opened.push(openSync("/dev/null")); } catch {}
try { startGuest({ plan }, { workspaceDir: "/none" }); } catch (error) { failure = error; }
for (const one of opened) closeSync(one);
console.log(failure.code, failure.message);
`;

it.skipIf(process.platform === "win32")("a host with too many open files says so", () => {
  const module = fileURLToPath(new URL("./start-guest.ts", import.meta.url));
  const node = [process.execPath, "--conditions=@cem/source", "--input-type=module", "-e", FULL_HOST, module];
  const { stdout } = spawnSync("sh", ["-c", `ulimit -n 128; exec "$0" "$@"`, ...node], { encoding: "utf8" });
  expect(stdout).toBe("GUEST_START_FAILED Too many files are open (EMFILE).\n");
});

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { availableBackends } from "./testing/backends.ts";

const MODULE = JSON.stringify(fileURLToPath(new URL("index.ts", import.meta.url)));
const READ = 'import { one } from "./servers/s/index.ts"; return [one, Deno.readTextFileSync("note.txt")];';
const WRITE = 'Deno.writeTextFileSync("made.txt", "x"); return 1;';

const folder = realpathSync(mkdtempSync(join(tmpdir(), "cem-read-only-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const [workspaceDir, tools] = [join(folder, "workspace"), join(folder, "tools")];
mkdirSync(workspaceDir);
mkdirSync(join(tools, "s"), { recursive: true });
writeFileSync(join(tools, "s/index.ts"), "export const one = 1;");

const backends = await availableBackends();
const canMount =
  spawnSync("unshare", ["--mount", "--", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;

/** Runs two programs in a workspace that is a read-only file system. */
function runReadOnly(isolation: string): { status: string; value?: unknown; text: string }[] {
  const program = `import { createDenoSandboxProvider } from ${MODULE};
const sandbox = await createDenoSandboxProvider({ isolation: ${JSON.stringify(isolation)} }).create({ workspaceDir: ${JSON.stringify(workspaceDir)}, mounts: [{ hostPath: ${JSON.stringify(tools)}, guestPath: "/workspace/servers", readOnly: true }] });
const told = [];
for (const code of ${JSON.stringify([READ, WRITE])}) { const { status, value, error } = await sandbox.run({ code }); told.push({ status, value, text: error?.message ?? "" }); }
await sandbox.dispose();
process.stdout.write(JSON.stringify(told));`;
  const script = `mount -t tmpfs -o size=1m tmpfs "$1" && echo hello > "$1/note.txt" && mount -o remount,ro "$1" && shift && exec "$@"`;
  const run = [process.execPath, "--conditions=@cem/source", "--input-type=module", "-e", program];
  const args = ["--mount", "--", "sh", "-c", script, "sh", workspaceDir, ...run];
  const { stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8" });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout);
}

describe.runIf(canMount).each(backends)("with $isolation", ({ isolation }) => {
  it("programs that do not write run in a read-only workspace, and others are told that it is", () => {
    const [read, write] = runReadOnly(isolation);
    expect(read).toMatchObject({ status: "completed", value: [1, "hello\n"] });
    expect(write).toMatchObject({ status: "failed", text: expect.stringMatching(/read-only file system/i) });
  });
});

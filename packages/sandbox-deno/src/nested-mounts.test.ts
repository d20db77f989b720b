import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { MOUNTED_FILE } from "./testing/backends.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const VITEST = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url));
const IN_NAMESPACE = 'mount -t tmpfs tmpfs "$1" && : > "$2" && shift 2 && exec "$@"';
const canMount = spawnSync("unshare", ["--mount", "--", "true"]).status === 0;

it.runIf(canMount)("guests start where something is mounted below /usr, and can't write there", () => {
  const vitest = [VITEST, "run", "src/kernel-files.test.ts", "-t", "unshare"];
  const run = [process.execPath, ...process.execArgv, ...vitest];
  const args = ["--mount", "--", "sh", "-c", IN_NAMESPACE, "sh", dirname(MOUNTED_FILE), MOUNTED_FILE, ...run];
  const { stdout, status } = spawnSync("unshare", args, {
    cwd: PACKAGE,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  expect({ status, stdout }).toMatchObject({ status: 0 });
  expect(stdout).toContain("1 passed");
});

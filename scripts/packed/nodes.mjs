// npm run test:packed:nodes: every package from its tarball on each Node that is supported, and two packages and the
// command by each package manager. Builds first. Takes minutes and asks the registry, so it is no part of `npm test`.
import { execFileSync, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { findNode, root } from "../node24.mjs";
import { bin, toolEnvironment } from "../setup.mjs";
import { temporaryFolder } from "../temporary-folder.ts";

const VERSIONS = ["22", "24", "26"];
const MANAGERS = ["npm", "pnpm", "yarn"];
const BY_MANAGERS = ["@cem/core", "code-execution-mcp", "@cem/cli"];
const options = { cwd: root, env: toolEnvironment(), stdio: "inherit" };
const count = { passed: 0, failed: 0 };
const folder = temporaryFolder("cem-nodes");

try {
  execFileSync(bin("turbo"), ["run", "build", "--output-logs=errors-only"], options);
  for (const version of VERSIONS) check(`Node ${version}`, ["--node", install(version)]);
  for (const manager of MANAGERS) check(manager, ["--manager", manager, ...BY_MANAGERS]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`\n${count.passed} passed, ${count.failed} failed\n`);
process.exitCode = count.failed > 0 ? 1 : 0;

function check(name, args) {
  process.stdout.write(`\n${name}\n`);
  const { status } = spawnSync(findNode(), [path.join(import.meta.dirname, "check.mjs"), ...args], {
    ...options,
    cwd: import.meta.dirname,
  });
  count[status === 0 ? "passed" : "failed"] += 1;
}

/** Node comes from the registry, as a package that holds its binary. */
function install(version) {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const prefix = path.join(folder, version);
  execFileSync(
    "npm",
    ["install", "--no-audit", "--no-fund", "--prefix", prefix, `${name}@${version}`],
    options,
  );
  return path.join(prefix, "node_modules", name, "bin");
}

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Runs the conformance tool's client scenarios against @cem/mcp-client: all that each revision of the
 * protocol requires, which holds the core suite. Ends with the scenarios that failed, if any did.
 *
 * One scenario at a time: the tool would start all clients of a suite at once, and on few cores some of their
 * connections then go stale before they are used.
 */
const REVISIONS = ["2025-11-25", "2026-07-28"];

const client = fileURLToPath(new URL("conformance-client.ts", import.meta.url));
const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
const tool = join(manifest, "../dist/index.js");
const command = `${process.execPath} --conditions=@cem/source ${client}`;

function conformance(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [tool, ...args], { encoding: "utf8" });
  return { status, output: stdout + stderr };
}

function requiredScenarios(revision: string): string[] {
  const { output } = conformance("list", "--requirements", revision);
  const [, list = ""] = output.split("Client scenarios");
  const [required = ""] = list.split("Run and reported");
  return [...required.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = ""]) => name);
}

const wanted = process.argv.slice(2);
const failed: string[] = [];
let passed = 0;
for (const revision of REVISIONS) {
  for (const scenario of requiredScenarios(revision)) {
    if (wanted.length > 0 && !wanted.includes(scenario)) continue;
    const { status, output } = conformance(
      "client",
      "--command",
      command,
      "--scenario",
      scenario,
      "--spec-version",
      revision,
    );
    const [checks = "no result"] = /^Passed: .*$/m.exec(output) ?? [];
    process.stdout.write(
      `${status === 0 ? "ok    " : "FAILED"}  ${revision}  ${scenario.padEnd(40)}  ${checks}\n`,
    );
    if (status === 0) passed += 1;
    else failed.push(`${scenario} (${revision})`);
  }
}
process.stdout.write(
  `\n${passed} scenarios passed, ${failed.length} failed${failed.map((name) => `\n  ${name}`).join("")}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

// Measures cem exec and cem call with and without cem keep-warm, one after the other in turns, and prints their ratio.
// Needs the build: pnpm build. Run: node apps/cli/scripts/bench-warm.mjs [rounds]
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";

const rounds = Number(process.argv[2] ?? 10);
const cem = path.resolve(import.meta.dirname, "../dist/cem.js");
const root = path.resolve(import.meta.dirname, "../../..");
const everything = createRequire(path.join(root, "packages/code-execution-mcp/package.json")).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);
/** Time to make the next agent ready, as between two commands of a person. */
const PAUSE_MS = 2_000;

const folder = temporaryFolder("cem-bench-warm");
const cold = path.join(folder, "cold");
const warm = path.join(folder, "warm");
const base = { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder, CEM_TRUST_FOLDER: "1" };
const run = (cwd, ...args) =>
  execFileSync(process.execPath, [cem, ...args], { cwd, env: base, stdio: "pipe" });

const COMMANDS = {
  "cem exec, a tool in the sandbox": ["exec", "program.ts", "-q"],
  "cem call, a tool in the sandbox": ["call", "calculator.add", "a=5", "b=3", "-q"],
  "cem call, a tool of an MCP server": ["call", "everything.echo", "message=hello", "-q"],
};
const PROGRAM =
  'import { add } from "./servers/calculator/index.ts";\nexport default await add({ a: 5, b: 3 });\n';

try {
  if (!existsSync(cem)) throw new Error("There is no build: pnpm build makes one.");
  for (const project of [cold, warm]) {
    cpSync(path.join(root, "servers/calculator"), path.join(project, "servers/calculator"), {
      recursive: true,
    });
    writeFileSync(path.join(project, "program.ts"), PROGRAM);
    writeFileSync(
      path.join(project, "config.yaml"),
      `mcp_servers:\n  everything:\n    command: ${process.execPath}\n    args: [${everything}]\n`,
    );
    run(project, "generate", "everything");
  }
  run(warm, "keep-warm");
  const node = await median(() => execFileSync(process.execPath, ["-e", "0"]));
  console.log(`node -e 0: ${node} ms; medians of ${rounds}`);
  for (const [name, args] of Object.entries(COMMANDS)) {
    const samples = { cold: [], warm: [] };
    for (let round = 0; round < rounds; round += 1) {
      samples.cold.push(await timed(() => run(cold, ...args)));
      await sleep(PAUSE_MS);
      samples.warm.push(await timed(() => run(warm, ...args)));
      await sleep(PAUSE_MS);
    }
    const [without, kept] = [middle(samples.cold), middle(samples.warm)];
    console.log(
      `${name}: ${without} ms without, ${kept} ms kept warm, ${(without / kept).toFixed(1)} times as fast`,
    );
  }
  console.log(JSON.parse(run(warm, "keep-warm", "status", "--json")).warm);
} finally {
  run(warm, "keep-warm", "stop");
}

async function median(work) {
  const samples = [];
  for (let round = 0; round < rounds; round += 1) samples.push(await timed(work));
  return middle(samples);
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function middle(samples) {
  return Math.round(samples.toSorted((one, other) => one - other)[Math.floor(samples.length / 2)] ?? 0);
}

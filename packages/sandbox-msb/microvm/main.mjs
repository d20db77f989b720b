// pnpm test:microvm: runs the tests of the microVM sandbox in real microVMs: on this host where the processor's
// virtualization is exposed, otherwise in a machine that QEMU emulates together with AMD's virtualization. The last line
// counts what passed and failed. CEM_MICROVM=emulated uses QEMU in any case; CEM_MICROVM_TESTS=^measures runs only tests
// whose names match.
import { spawnSync } from "node:child_process";
import path from "node:path";
import { findNode } from "../../../scripts/node24.mjs";
import { setUp, SetupError, say } from "../../../scripts/setup.mjs";
import { bootOuterMachines } from "./emulator/boot.mjs";
import { buildJob, JOB_ARGUMENTS } from "./build-job.mjs";
import { buildOuterMachine, installPrograms } from "./emulator/build-outer-machine.mjs";
import { hasVirtualization, missingForEmulation } from "./host.mjs";
import { writeJobDisk } from "./emulator/job-disk.mjs";

/** Emulated machines that share the tests: each takes one processor of this host. */
const PARTS = 2;

const summary = ({ passed, failed, skipped }) => {
  const rest = skipped > 0 ? `, ${skipped} skipped` : "";
  process.stdout.write(`\n${passed} passed, ${failed} failed${rest}\n`);
  process.exitCode = failed > 0 ? 1 : 0;
};

try {
  await setUp();
  const emulated = process.env.CEM_MICROVM === "emulated" || !hasVirtualization();
  const missing = emulated ? missingForEmulation() : undefined;
  if (missing === undefined) summary(await (emulated ? runEmulated() : runHere()));
  else {
    say(`No microVM can be had here: the processor's virtualization is not exposed, and ${missing}.`);
    summary({ passed: 0, failed: 0, skipped: 1 });
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(`\n${error.message}`);
  summary({ passed: 0, failed: 1, skipped: 0 });
}

async function runEmulated() {
  const [machine, job] = await Promise.all([installPrograms().then(buildOuterMachine), buildJob()]);
  return bootOuterMachines({ ...machine, jobImage: await writeJobDisk(job) }, PARTS);
}

async function runHere() {
  const job = await buildJob();
  const run = spawnSync(findNode(), JOB_ARGUMENTS, {
    cwd: job.folder,
    env: {
      ...process.env,
      CEM_MICROVM_SCOPE: "whole",
      PATH: `${path.dirname(findNode())}:${process.env.PATH}`,
    },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.stdout.write(run.stdout);
  return readSummary(run.stdout);
}

function readSummary(text) {
  const [, passed, failed, skipped] = /CEM-RESULT (\d+) (\d+) (\d+)/.exec(text) ?? [undefined, 0, 1, 0];
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}

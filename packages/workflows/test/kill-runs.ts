import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkflowResult } from "../src/index.ts";
import { countOf, sampleWorkflows, TEN_FILES, uncertainOutcomes } from "./sample-workflows.ts";

const WORKER = path.join(import.meta.dirname, "worker.ts");
const LONGEST_LIFE_MS = 60;

interface Life {
  /** `undefined` where it was killed before it ended. */
  result: WorkflowResult | undefined;
}

/** The outcome of the steps of killed runs. */
export interface KillReport {
  kills: number;
  runs: number;
  /** Steps that were reported as perhaps done. */
  reported: number;
  /** Steps that were done another number of times than once. */
  wrong: string[];
}

/**
 * Kills runs of ten steps at random moments and goes on with them, until so many were killed. Of a step that may have been
 * done it is looked up whether it was, as a person would.
 */
export async function killRuns(kills: number): Promise<KillReport> {
  const report: KillReport = { kills: 0, runs: 0, reported: 0, wrong: [] };
  while (report.kills < kills) {
    const folder = mkdtempSync(path.join(tmpdir(), "cem-kill-"));
    try {
      await killOneRun(folder, report, kills);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return report;
}

async function killOneRun(folder: string, report: KillReport, kills: number): Promise<void> {
  report.runs += 1;
  const workflows = sampleWorkflows(folder);
  let run = "";
  const decisions = { repeat: "", done: "{}" };
  for (;;) {
    const mayKill = report.kills < kills;
    const { result } = await live(
      folder,
      run,
      decisions,
      mayKill ? Math.random() * LONGEST_LIFE_MS : undefined,
    );
    if (result === undefined) report.kills += 1;
    // A decision is given once: the step may have been executed since.
    Object.assign(decisions, { repeat: "", done: "{}" });
    run = (await workflows.list())[0]?.run ?? "";
    if (result?.status === "success") break;
    if (result !== undefined && result.error?.code !== "WORKFLOW_STEP_UNCERTAIN")
      throw new Error(`The run ended as ${result.status}: ${result.error?.message}`);
    if (run === "") continue;
    const { uncertain } = await workflows.show(run);
    if (result !== undefined) report.reported += 1;
    // A person decides only what was asked.
    if (result === undefined) continue;
    const { done, repeat } = uncertainOutcomes(folder, uncertain);
    Object.assign(decisions, { done: JSON.stringify(done), repeat: repeat.join(",") });
  }
  const counts = TEN_FILES.map((file) => [file, countOf(folder, file)] as const);
  report.wrong.push(...counts.filter(([, count]) => count !== 1).map(([file, count]) => `${file}: ${count}`));
}

/** One life of a process: from the moment it is at work until it ends or is killed. */
async function live(
  folder: string,
  run: string,
  { repeat, done }: { repeat: string; done: string },
  killAfterMs: number | undefined,
): Promise<Life> {
  const args = ["--conditions=@cem/source", WORKER, folder, run, repeat, done];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  let killing: Promise<void> | undefined;
  child.stdout.on("data", (chunk: Buffer) => {
    output += String(chunk);
    if (killAfterMs === undefined) return;
    killing ??= delay(killAfterMs).then(() => void child.kill("SIGKILL"));
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", (exit) => resolve(exit)));
  await killing;
  const last = output.trim().split("\n").at(-1) ?? "";
  if (code !== 0 && code !== null) throw new Error(`The worker ended with ${code}: ${output}`);
  return {
    result: last.startsWith("{") && last.endsWith("}") ? (JSON.parse(last) as WorkflowResult) : undefined,
  };
}

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { temporaryFolder } from "./run-cem.ts";

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];

const tool = path.join(
  createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"),
  "../dist/index.js",
);

interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  errorMessage?: string | undefined;
}

/** Results of the conformance suite. */
export interface ConformanceReport {
  /** Of those that the revision requires. */
  scenarios: number;
  /** That succeeded. */
  checks: number;
  /** Failures and warnings: `scenario check: what is wrong`. */
  faults: string[];
}

/** Runs all scenarios that a revision of the protocol requires of a server. */
export async function runConformance(url: string, revision: Revision): Promise<ConformanceReport> {
  const [required, found] = await Promise.all([requiredScenarios(revision), checksOf(url, revision)]);
  const report: ConformanceReport = { scenarios: required.length, checks: 0, faults: [] };
  for (const scenario of required) {
    const checks = found.get(scenario) ?? [{ id: "was not run", status: "FAILURE" }];
    report.checks += checks.filter(({ status }) => status === "SUCCESS").length;
    const faults = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
    report.faults.push(...faults.map(({ id, errorMessage }) => `${scenario} ${id}: ${errorMessage ?? ""}`));
  }
  return report;
}

async function requiredScenarios(revision: Revision): Promise<string[]> {
  const [, list = ""] = (await conformance("list", "--requirements", revision)).split("Server scenarios");
  const [required = ""] = list.split("Client scenarios");
  return [...required.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = ""]) => name);
}

async function checksOf(url: string, revision: Revision): Promise<Map<string, Check[]>> {
  const folder = temporaryFolder();
  await conformance("server", "--url", url, "--requirements", revision, "--output-dir", folder);
  return new Map(
    readdirSync(folder).map((name) => {
      const scenario = name.replace(/^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/, "$1");
      return [scenario, JSON.parse(readFileSync(path.join(folder, name, "checks.json"), "utf8")) as Check[]];
    }),
  );
}

async function conformance(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [tool, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await new Promise((resolve) => child.on("close", resolve));
  return output;
}

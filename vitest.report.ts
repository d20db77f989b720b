import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

const MAX_DIFFERING_LINES = 8;
/** How a diff begins. */
const DIFF_LEGEND = /^(?:- Expected|\+ Received)\b/u;

/** The part of a package's test report that `npm test` reads. */
export interface TestReport {
  passed: number;
  skipped: number;
  /** Counts of skipped tests, by the programs that they need and this machine lacks. */
  lacking: Record<string, number>;
  /** Tests that failed, and files that could not be loaded, with the first line of what went wrong. */
  failed: readonly { test: string; error: string }[];
  /** Tests that passed at a second try only: each is a fault of the test or of what it tests. */
  unsteady: readonly { test: string; error: string }[];
}

/** Writes a report of the tests, small enough to be kept for each package. */
export class ReportFile implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const states = Map.groupBy(tests, (test) => test.result().state);
    const report: TestReport = {
      passed: states.get("passed")?.length ?? 0,
      skipped: states.get("skipped")?.length ?? 0,
      lacking: countLacking(states.get("skipped") ?? []),
      failed: [
        ...(states.get("failed") ?? []).map((test) => named(test)),
        ...modules.flatMap((module) =>
          module.errors().map((error) => ({ test: module.relativeModuleId, error: summaryOf(error) })),
        ),
        ...errors.map((error) => ({ test: "outside of the tests", error: summaryOf(error) })),
      ],
      unsteady: tests.filter((test) => test.diagnostic()?.flaky === true).map((test) => named(test)),
    };
    mkdirSync(path.dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify(report));
  }
}

/** `describeWith` of vitest.tools.ts puts what a group of tests needs into its name. */
function countLacking(tests: readonly TestCase[]): Record<string, number> {
  const groups = Map.groupBy(tests, ({ fullName }) => /\(needs ([^)]+)\)/.exec(fullName)?.[1]);
  return Object.fromEntries(
    [...groups].flatMap(([tools, skipped]) => (tools === undefined ? [] : [[tools, skipped.length]])),
  );
}

function named(test: TestCase): { test: string; error: string } {
  const error = test.result().errors?.[0];
  return {
    test: `${test.module.relativeModuleId} › ${test.fullName}`,
    error: error === undefined ? "" : summaryOf(error),
  };
}

/** The first line of what went wrong, and the lines in which it differs from what was expected. */
function summaryOf({ message, diff = "" }: { message: string; diff?: string | undefined }): string {
  const [first = ""] = message.split("\n", 1);
  const differing = stripVTControlCharacters(diff)
    .split("\n")
    .filter((line) => /^[-+] /u.test(line) && !DIFF_LEGEND.test(line));
  return [first, ...differing.slice(0, MAX_DIFFERING_LINES)].join("\n    ");
}

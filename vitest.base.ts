import os from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { findMoreTests } from "./scripts/more-tests.mjs";
import { ReportFile } from "./vitest.report.ts";

/** Set by turbo for what it runs: other packages may be tested at the same time, and a report is read afterwards. */
const underTurbo = process.env["TURBO_HASH"] !== undefined;

/** Set by test:mutation, which has to see which tests import a changed file. */
const underMutation = process.env["CEM_MUTATION"] !== undefined;

/** `long`: the files that take long run too. `all`: each proof at its full number as well. */
const isComplete = ["long", "all"].includes(process.env["CEM_TESTS"] ?? "");

/** `more`: only the files that `npm test` leaves out for their time, and those that use a program beyond Node. */
const isMore = process.env["CEM_TESTS"] === "more";
const include = isMore ? findMoreTests(process.cwd()) : ["src/**/*.test.ts"];

/** Tests run against the sources of every package, so one package's tests need no build. */
export default defineConfig({
  resolve: { conditions: ["@cem/source"] },
  ssr: { resolve: { conditions: ["@cem/source"] } },
  test: {
    include,
    exclude: isComplete ? [] : isMore ? ["**/*.long.test.ts"] : ["**/*.{long,slow}.test.ts"],
    globalSetup: [fileURLToPath(new URL("./vitest.guard.ts", import.meta.url))],
    // Tests that start a browser or several processes share two processors with those of three more packages.
    testTimeout: isMore ? 240_000 : 120_000,
    // A poll ends with what it waits for; a busy machine may take long.
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 120_000,
    maxWorkers: workers(),
    // Test files share the workers: loading the modules for each would take longer than most of the tests. A fault in
    // what a module computes as it is loaded is there only where it is loaded anew.
    isolate: underMutation,
    // Node reads the sources itself, in a fraction of the time that a transform of each takes.
    execArgv: ["--conditions=@cem/source"],
    server: { deps: { external: underMutation ? [] : [/\/packages\/[^/]+\/src\//] } },
    // A busy machine must not throw away a whole run: what passes at a second try only is named at the end.
    ...(underTurbo && { retry: 1, reporters: ["default", new ReportFile(".cem/vitest.json")] }),
  },
});

/** Turbo runs several packages at once, each with half of the processors. Many tests wait for processes of their own. */
function workers(): number {
  const processors = os.availableParallelism();
  return underTurbo ? Math.max(1, Math.floor(processors / 2)) : Math.max(2, processors);
}

import { EXPECTED_FAILURES, tryFixture, tryRealServer } from "../fixtures/run-conformance.ts";

/** Runs the conformance suite and prints what failed, and whether that was expected. */
for (const [target, tryIt] of [
  ["fixture", tryFixture],
  ["real server", tryRealServer],
] as const) {
  const { scenarios, checks, failures } = await tryIt();
  process.stdout.write(
    `${target}: ${scenarios} scenarios, ${checks} checks passed, ${failures.length} failed\n`,
  );
  for (const failure of failures) {
    const reason = EXPECTED_FAILURES[failure];
    process.stdout.write(`  ${failure}${reason === undefined ? "" : `: expected, ${reason}`}\n`);
    if (reason === undefined) process.exitCode = 1;
  }
}

// Says how each test ended and how many passed, where only a console can be read.
const FULL_STACK_LINES = 12;

export default async function* report(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const suites = [];
  for await (const { type, data } of events) {
    const isSuite = data.details?.type === "suite";
    if (type === "test:start") suites.length = data.nesting;
    if (type === "test:start") suites.push(data.name);
    if (type === "test:stdout" || type === "test:stderr") yield data.message;
    if (type !== "test:pass" && type !== "test:fail") continue;
    const how = data.skip !== undefined ? "skipped" : type === "test:pass" ? "passed" : "failed";
    const cause = data.details.error?.cause ?? data.details.error;
    // A suite fails with its tests; a failure of its own comes from its hooks.
    if (isSuite && (how !== "failed" || data.details.error?.failureType === "subtestsFailed")) continue;
    counts[how] += 1;
    const name = [...suites.slice(0, data.nesting), data.name].join(" > ");
    yield ` ${how === "failed" ? "×" : "✓"} ${name} ${Math.round(data.details.duration_ms)}ms\n`;
    if (how !== "failed") continue;
    const text = String(cause?.stack ?? cause);
    yield `${text.split("\n").slice(0, FULL_STACK_LINES).join("\n")}\n`;
  }
  yield `CEM-RESULT ${counts.passed} ${counts.failed} ${counts.skipped}\n`;
}

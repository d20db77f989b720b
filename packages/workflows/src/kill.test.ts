import { describe, expect, it } from "vitest";
import { killRuns } from "../test/kill-runs.ts";

describe("a run that is killed at random moments", () => {
  // `npm run test:workflows-kill` kills two hundred times.
  it("does each step once, or says which may have been done", { timeout: 300_000 }, async () => {
    const report = await killRuns(10);
    expect(report.wrong).toEqual([]);
    expect(report.kills).toBe(10);
  });
});

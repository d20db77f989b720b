import { describe, expect, it } from "vitest";
import { killRuns } from "../test/kill-runs.ts";

/** `npm run test:workflows-kill` kills two hundred times. */
const KILLS = { long: 20, all: 200 }[process.env["CEM_TESTS"] ?? ""] ?? 2;

describe("a run that is killed at random moments", () => {
  it("does each step once, or says which may have been done", { timeout: 1_200_000 }, async () => {
    expect(await killRuns(KILLS)).toMatchObject({ kills: KILLS, wrong: [] });
  });
});

import { describe, expect, it } from "vitest";
import { EXPECTED_FAILURES, tryFixture, tryRealServer } from "../fixtures/run-conformance.ts";

const expectedOf = (target: string) => Object.keys(EXPECTED_FAILURES).filter((key) => key.startsWith(target));

describe("the conformance suite", { timeout: 120_000, concurrent: true }, () => {
  it("passes on a fixture behind our HTTP front: all that both revisions require", async () => {
    const { scenarios, checks, failures } = await tryFixture();
    expect(failures.toSorted()).toEqual(expectedOf("fixture").toSorted());
    expect([scenarios, checks > 150]).toEqual([67, true]);
  });

  it("passes on the real server, where it needs no fixture", async () => {
    const { scenarios, checks, failures } = await tryRealServer();
    expect(failures.toSorted()).toEqual(expectedOf("real").toSorted());
    expect([scenarios, checks > 40]).toEqual([9, true]);
  });
});

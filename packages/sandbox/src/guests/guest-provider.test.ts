import { describe, expect, it } from "vitest";
import { guestInit } from "./guest-provider.ts";

describe("guestInit", () => {
  it("tells a guest that it may serve more than one run, as a sandbox has it, unless each run has one of its own", () => {
    const told = ([undefined, "session", "none"] as const).map(
      (reuse) => guestInit({ workspaceDir: "/nowhere" }, { reuse }).reuse,
    );
    expect(told).toEqual([true, true, false]);
  });
});

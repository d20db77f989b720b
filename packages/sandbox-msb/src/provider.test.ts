import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cacheProbe, findObstacle, probeKey, readCachedProbe, readSigns } from "./host-virtualization.ts";
import { createMicrosandboxProvider } from "./index.ts";

const obstacle = findObstacle(readSigns());
const home = mkdtempSync(join(tmpdir(), "cem-msb-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

// Where machines can run, `pnpm test:microvm` tests them.
describe.skipIf(obstacle === undefined)(
  "createMicrosandboxProvider, on a host without virtualization",
  () => {
    it("says why no machine starts, without trying one", async () => {
      const probe = await createMicrosandboxProvider({ home }).probe();
      expect(probe).toEqual({ available: false, ...obstacle });
    });

    it("refuses to make a sandbox, with the way out", async () => {
      const workspaceDir = join(home, "workspace");
      mkdirSync(workspaceDir);
      const created = createMicrosandboxProvider({ home }).create({ workspaceDir });
      await expect(created).rejects.toMatchObject({
        code: "SANDBOX_UNAVAILABLE",
        message: expect.stringContaining(obstacle?.reason ?? ""),
      });
    });

    it("checks what it is asked for first", async () => {
      const created = createMicrosandboxProvider({ home }).create({ workspaceDir: join(home, "missing") });
      await expect(created).rejects.toMatchObject({ code: "SANDBOX_SPEC_INVALID" });
    });
  },
);

describe("what a boot came to", () => {
  it("is remembered for this machine and these versions, and for no others", () => {
    const file = join(home, "memory/probe.json");
    const key = probeKey("0.6.18", "runtime");
    expect(readCachedProbe(file, key)).toBeUndefined();
    cacheProbe(file, { key, booted: false, reason: "no answer" });
    expect(readCachedProbe(file, key)).toEqual({ key, booted: false, reason: "no answer" });
    expect(readCachedProbe(file, probeKey("0.6.19", "runtime"))).toBeUndefined();
    expect(readCachedProbe(file, probeKey("0.6.18", "other"))).toBeUndefined();
  });
});

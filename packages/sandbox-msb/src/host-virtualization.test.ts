import { describe, expect, it } from "vitest";
import { findObstacle, type VirtualizationSigns } from "./host-virtualization.ts";

const works: VirtualizationSigns = {
  platform: "linux",
  arch: "x64",
  kvmError: undefined,
  cpuInfo: "flags\t\t: fpu vme vmx smx\n",
};

describe("findObstacle", () => {
  it("finds none where KVM opens and the processor shows its virtualization", () => {
    expect(findObstacle(works)).toBeUndefined();
    expect(findObstacle({ ...works, cpuInfo: "flags : svm\n" })).toBeUndefined();
    expect(findObstacle({ ...works, arch: "arm64", cpuInfo: "" })).toBeUndefined();
    expect(findObstacle({ ...works, platform: "darwin", arch: "arm64", cpuInfo: "" })).toBeUndefined();
  });

  it.each([
    [
      "KVM opens alone",
      { cpuInfo: "flags : fpu svm_lock\n" },
      /opens, but the processor's virtualization is not exposed/,
    ],
    ["there is no KVM", { kvmError: "ENOENT" }, /no \/dev\/kvm that opens \(ENOENT\): KVM is not loaded/],
    [
      "there is nothing",
      { kvmError: "ENOENT", cpuInfo: "" },
      /ENOENT\): the processor's virtualization is not exposed/,
    ],
    ["the user may not open it", { kvmError: "EACCES" }, /this user may not open it/],
    ["it is a Mac of another kind", { platform: "darwin" }, /Apple silicon only/],
  ])("says what is wrong where %s", (_, difference, reason) => {
    const obstacle = findObstacle({ ...works, ...difference });
    expect(obstacle?.reason).toMatch(reason);
    expect(obstacle?.hint).toContain("Deno sandbox");
  });
});

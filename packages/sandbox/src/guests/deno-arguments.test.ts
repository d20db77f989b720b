import { describe, expect, it } from "vitest";
import { denoArguments, type DenoArguments } from "./deno-arguments.ts";
import { guestEnvironment, namespacedDenoArguments } from "./namespaced-guest.ts";

const SETTINGS: DenoArguments = {
  bootFile: "/cem/guest/boot.js",
  read: ["/workspace", "/a,b"],
  denyRead: [],
  write: ["/workspace"],
  denyWrite: [],
  network: "none",
  memoryMb: 256.7,
};

describe("denoArguments", () => {
  it("grants what is listed and denies the rest", () => {
    expect(denoArguments(SETTINGS)).toEqual([
      "run",
      "--quiet",
      "--no-prompt",
      "--no-config",
      "--no-lock",
      "--no-remote",
      "--no-npm",
      "--node-modules-dir=none",
      "--no-check",
      "--no-code-cache",
      "--allow-read=/workspace,/a,,b",
      "--allow-write=/workspace",
      "--deny-net",
      "--ignore-env",
      "--deny-run",
      "--deny-ffi",
      "--allow-sys=uid,gid",
      "--deny-import",
      "--v8-flags=--max-old-space-size=256",
      "/cem/guest/boot.js",
    ]);
  });

  it("denies single paths", () => {
    const args = denoArguments({ ...SETTINGS, denyRead: ["/a", "/b"], denyWrite: ["/c"] });
    expect(args).toContain("--deny-read=/a,/b");
    expect(args).toContain("--deny-write=/c");
  });

  it("allows hosts, or all, and denies internal addresses", () => {
    const listed = denoArguments({ ...SETTINGS, network: { hosts: ["a.example:1", "b.example"] } });
    expect(listed).toContain("--allow-net=a.example:1,b.example");
    expect(listed).toContainEqual(expect.stringMatching(/^--deny-net=0\.0\.0\.0\/8,10\.0\.0\.0\/8,/));
    const all = denoArguments({ ...SETTINGS, network: "all" });
    expect(all).toContain("--allow-net");
    expect(all).not.toContain("--deny-net");
    expect(all).toContainEqual(expect.stringMatching(/^--deny-net=.*169\.254\.0\.0\/16/));
  });

  it("gives V8 at least 16 MiB", () => {
    expect(denoArguments({ ...SETTINGS, memoryMb: 1 })).toContain("--v8-flags=--max-old-space-size=16");
  });
});

describe("namespacedDenoArguments", () => {
  it("grants the workspace and the mounts, and no writing to read-only ones", () => {
    const mounts = [
      { hostPath: "/h/servers", guestPath: "/workspace/servers", readOnly: true },
      { hostPath: "/h/data", guestPath: "/data", readOnly: false },
    ];
    const plan = { mounts, network: "none", memoryMb: 64 } as const;
    const args = namespacedDenoArguments(plan, "/boot.js");
    expect(args).toContain("--allow-read=/workspace,/workspace/servers,/data");
    expect(args).toContain("--allow-write=/workspace,/data");
    expect(args).toContain("--deny-write=/workspace/servers");
    expect(args.some((arg) => arg.startsWith("--deny-read"))).toBe(false);
    expect(args.at(-1)).toBe("/boot.js");
    const hidden = namespacedDenoArguments({ ...plan, denyRead: ["/x"] }, "/boot.js");
    expect(hidden).toContain("--deny-read=/x");
  });
});

describe("guestEnvironment", () => {
  it("passes nothing of the host's on", () => {
    expect(guestEnvironment("/tmp/deno")).toEqual({
      DENO_DIR: "/tmp/deno",
      DENO_EMIT_CACHE_MODE: "disable",
      DENO_NO_UPDATE_CHECK: "1",
      DENO_WEBGPU_BACKEND: "none",
      NO_COLOR: "1",
      HOME: "/nonexistent",
    });
  });
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxSpec } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkSpec } from "./guest-spec.ts";

describe("checkSpec", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cem-spec-"));
    mkdirSync(join(folder, "workspace"));
    writeFileSync(join(folder, "file"), "");
    symlinkSync(join(folder, "workspace"), join(folder, "link"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const check = (more: Partial<SandboxSpec>) =>
    checkSpec({ workspaceDir: join(folder, "workspace"), ...more });
  const failureOf = (more: Partial<SandboxSpec>): unknown => {
    try {
      check(more);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const mount = (guestPath: string, hostPath = folder) => ({
    mounts: [{ hostPath, guestPath, readOnly: true }],
  });

  it.each<[string, () => Partial<SandboxSpec>]>([
    ["a workspace alone", () => ({})],
    ["a mount in the workspace", () => mount("/workspace/servers")],
    ["a mount elsewhere", () => mount("/data")],
    ["a mount of a file", () => mount("/data/file", join(folder, "file"))],
    ["a mount whose path begins like a reserved one", () => mount("/cemetery")],
    [
      "a hidden file in a mount",
      () => ({ ...mount("/workspace/servers"), hidden: ["/workspace/servers/a/b.ts"] }),
    ],
    ["hosts", () => ({ network: { hosts: ["api.example.com:443"] } })],
    ["all hosts", () => ({ network: "all" })],
    ["no network", () => ({ network: "none" })],
  ])("accepts %s", (_, spec) => {
    expect(() => check(spec())).not.toThrow();
  });

  it.each<[string, () => Partial<SandboxSpec>, RegExp]>([
    [
      "a relative workspace",
      () => ({ workspaceDir: "workspace" }),
      /^workspaceDir has to be absolute; it is "workspace"\.$/,
    ],
    ["a missing workspace", () => ({ workspaceDir: join(folder, "none") }), /is not an existing folder\.$/],
    [
      "a workspace that is a file",
      () => ({ workspaceDir: join(folder, "file") }),
      /is not an existing folder\.$/,
    ],
    [
      "a workspace that is a link",
      () => ({ workspaceDir: join(folder, "link") }),
      /is not an existing folder\.$/,
    ],
    [
      "a relative mount",
      () => mount("/data", "folder"),
      /^The mount folder is not an absolute path that exists\.$/,
    ],
    ["a missing mount", () => mount("/data", "/nowhere/at/all"), /is not an absolute path that exists\.$/],
    [
      "a mount at a relative path",
      () => mount("data"),
      /^A mount can't appear at data in the guest: it has to be a plain/,
    ],
    ["a mount at a path with dots", () => mount("/workspace/../data"), /it has to be a plain absolute path/],
    [
      "a mount at a path with a doubled slash",
      () => mount("/workspace//data"),
      /it has to be a plain absolute path/,
    ],
    ["a mount at the workspace", () => mount("/workspace"), /other than \/workspace\.$/],
    ["a mount at the root", () => mount("/"), /the path is reserved for the system/],
    ...["/cem", "/proc", "/dev", "/tmp", "/lib", "/lib64", "/usr", "/bin", "/sbin", "/etc", "/old"].flatMap(
      (path): [string, () => Partial<SandboxSpec>, RegExp][] => [
        [`a mount at ${path}`, () => mount(path), /the path is reserved for the system/],
        [`a mount in ${path}`, () => mount(`${path}/x`), /the path is reserved for the system/],
      ],
    ),
    [
      "a hidden file outside mounts",
      () => ({ hidden: ["/workspace/a.ts"] }),
      /^\/workspace\/a\.ts can't be hidden/,
    ],
    [
      "a hidden file beside a mount",
      () => ({ ...mount("/workspace/servers"), hidden: ["/workspace/serversX/a.ts"] }),
      /can't be hidden/,
    ],
    [
      "a mount as a hidden file",
      () => ({ ...mount("/workspace/servers"), hidden: ["/workspace/servers"] }),
      /can't be hidden/,
    ],
    [
      "a hidden file by dots",
      () => ({ ...mount("/workspace/servers"), hidden: ["/workspace/servers/../a.ts"] }),
      /can't be hidden/,
    ],
    ["a host that is none", () => ({ network: { hosts: ["http://x"] } }), /is not a host/],
  ])("refuses %s", (_, spec, message) => {
    expect(failureOf(spec())).toMatchObject({
      code: "SANDBOX_SPEC_INVALID",
      message: expect.stringMatching(message),
    });
  });

  it("puts the offending value into details", () => {
    expect(failureOf({ workspaceDir: "x" })).toMatchObject({ details: { workspaceDir: "x" } });
    expect(failureOf({ workspaceDir: "/nowhere/at/all" })).toMatchObject({
      details: { workspaceDir: "/nowhere/at/all" },
    });
    expect(failureOf({ hidden: ["/a"] })).toMatchObject({ details: { hidden: "/a" } });
    expect(failureOf(mount("/data", "x"))).toMatchObject({ details: { hostPath: "x" } });
    expect(failureOf(mount("/etc"))).toMatchObject({ details: { guestPath: "/etc" } });
    expect(failureOf(mount("data"))).toMatchObject({ details: { guestPath: "data" } });
  });
});

import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findCandidates } from "./detect-isolation.ts";
import type { GuestPlan } from "./guest-plan.ts";
import { profileOf } from "./sandbox-exec.ts";

it("writes a profile with the real paths of what a guest may read and write, and no network", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "cem-profile-")));
  const at = (name: string): string => join(folder, name);
  for (const name of ['work"space', "tools", "own", "guest"]) mkdirSync(at(name));
  symlinkSync(at('work"space'), at("link"));
  const plan = {
    workspaceDir: at("link"),
    mounts: [{ hostPath: at("tools"), guestPath: "/workspace/servers", readOnly: true }],
    network: "none",
    denoFile: process.execPath,
    bootFile: at("guest/boot.js"),
  } as unknown as GuestPlan;
  const rules = profileOf(plan, at("own")).split("\n");
  const workspace = `(subpath "${folder}/work\\"space")`;
  expect(rules).toContain(`(allow file-write* ${workspace} (subpath "${at("own")}") (literal "/dev/null"))`);
  expect(rules).toContain(`(deny file-write* (subpath "${at("tools")}"))`);
  expect(rules).toContain("(deny network*)");
  expect(profileOf({ ...plan, network: "all" }, undefined)).not.toContain("network");
});

it.runIf(process.platform !== "darwin")("is not there on other systems than macOS", () => {
  expect(findCandidates("sandbox-exec")).toEqual({
    backends: [],
    notes: ["sandbox-exec: it is a program of macOS"],
  });
});

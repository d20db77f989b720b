import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxSpec } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeGuestImports } from "./guest-imports.ts";

const BOOT = "file:///cem/guest/boot.ts";

describe("writeGuestImports", () => {
  const home = mkdtempSync(join(tmpdir(), "cem-msb-"));
  const workspaceDir = join(home, "workspace");
  beforeAll(() => {
    mkdirSync(workspaceDir);
    mkdirSync(join(home, "servers/calculator"), { recursive: true });
    writeFileSync(join(home, "servers/calculator/index.ts"), "export const add = 1;\n");
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const mounts = [{ hostPath: join(home, "servers"), guestPath: "/workspace/servers", readOnly: true }];
  const write = (spec: Partial<SandboxSpec>) =>
    writeGuestImports(home, BOOT, { workspaceDir, mounts, ...spec });

  it("needs none of its own where no tool runs on the host", () => {
    expect(write({})).toEqual({ remove: expect.any(Function) });
  });

  it("leads to tools on the host, beside those of a file, and away from hidden files", () => {
    const imports = write({
      hostTools: { crm: ["find"], calculator: ["multiply"] },
      hidden: ["/workspace/servers/crm/find.host.ts"],
    });
    const folder = imports.mount?.hostPath ?? "";
    expect(imports).toMatchObject({
      file: "/etc/cem/import-map.json",
      mount: { guestPath: "/etc/cem", readOnly: true },
    });
    const map = JSON.parse(readFileSync(join(folder, "import-map.json"), "utf8")) as {
      imports: Record<string, string>;
    };
    const text = (path: string) => decodeURIComponent(map.imports[`file:///workspace/servers/${path}`] ?? "");
    expect(map.imports["cem:client"]).toBe(BOOT);
    expect(text("crm/index.ts")).toContain(`hostTool("crm", "find")`);
    expect(text("crm/index.ts")).not.toContain("own-file");
    expect(text("calculator/index.ts")).toContain("calculator/index.ts?own-file");
    expect(text("crm/find.host.ts")).toContain("runs on the host");
    imports.remove();
    expect(existsSync(folder)).toBe(false);
  });

  it("refuses to hide what the program could move", () => {
    const writable = mounts.map((mount) => ({ ...mount, readOnly: false }));
    const hidden = ["/workspace/servers/crm/find.host.ts"];
    for (const mounts of [writable, []])
      expect(() => write({ mounts, hidden })).toThrow(/Mount its folder read-only/);
  });
});

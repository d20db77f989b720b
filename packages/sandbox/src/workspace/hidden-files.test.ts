import { describe, expect, it } from "vitest";
import { checkHidden } from "./hidden-files.ts";

describe("checkHidden", () => {
  const workspaceDir = "/somewhere/workspace";
  const hidden = ["/workspace/servers/crm/find.host.ts"];
  const servers = (readOnly: boolean) => ({
    hostPath: "/somewhere/servers",
    guestPath: "/workspace/servers",
    readOnly,
  });

  it("accepts what lies in a folder that is mounted read-only", () => {
    expect(() => checkHidden({ workspaceDir, mounts: [servers(true)], hidden }, "here")).not.toThrow();
    expect(() => checkHidden({ workspaceDir }, "here")).not.toThrow();
  });

  it("refuses to hide what the program could move", () => {
    for (const mounts of [[servers(false)], []])
      expect(() => checkHidden({ workspaceDir, mounts, hidden }, "here")).toThrow(
        /Mount its folder read-only/,
      );
  });
});

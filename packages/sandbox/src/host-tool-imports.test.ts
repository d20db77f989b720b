import { describe, expect, it } from "vitest";
import { hostToolModule, hostToolModuleUrl } from "./host-tool-imports.ts";

const sourceOf = (url: string) => decodeURIComponent(url.replace("data:text/javascript,", ""));

describe("hostToolModule", () => {
  it("is the server's index.ts in the workspace", () => {
    expect(hostToolModule("crm")).toBe("/workspace/servers/crm/index.ts");
  });
});

describe("hostToolModuleUrl", () => {
  it("exports a function for each tool", () => {
    expect(sourceOf(hostToolModuleUrl("crm", ["find", "add"]))).toBe(`import { hostTool } from "cem:client";
const tool0 = hostTool("crm", "find");
export { tool0 as "find" };
const tool1 = hostTool("crm", "add");
export { tool1 as "add" };`);
  });

  it("re-exports the server's own file", () => {
    const source = sourceOf(hostToolModuleUrl("crm", [], "file:///workspace/servers/crm/index.ts"));
    expect(source).toBe(`import { hostTool } from "cem:client";
export * from "file:///workspace/servers/crm/index.ts?own-file";`);
  });

  it("quotes names", () => {
    expect(sourceOf(hostToolModuleUrl('a"b', ['c"); evil("']))).toContain(
      String.raw`hostTool("a\"b", "c\"); evil(\"");`,
    );
  });
});

import type { CatalogSnapshot, ToolDefinition } from "@cem/core";
import { signaturesOf } from "@cem/tool-files/answers";
import { describe, expect, it } from "vitest";
import { markApprovals } from "./stages.ts";

function tool(name: string): ToolDefinition {
  return {
    server: "files",
    name,
    kind: "host",
    description: "Does it.",
    inputSchema: { type: "object" },
    callStyle: "object",
    signature: `${name}(): Promise<string>`,
    module: "./servers/files/index.ts",
  };
}

const plain = { name: "plain", description: "", kind: "host" as const, tools: [tool("read")] };
const mixed = {
  name: "files",
  description: "",
  kind: "host" as const,
  tools: [tool("read"), tool("remove")],
};
const snapshot: CatalogSnapshot = { servers: [plain, mixed], problems: [], version: "1" };
const catalog = markApprovals(
  { specificationVersion: "v1", list: async () => ({ ...snapshot }) },
  async () =>
    ({ name }) =>
      name === "remove",
);

describe("markApprovals", () => {
  it("marks the tools that ask, and a model reads so at these alone", async () => {
    const { servers } = await catalog.list();
    const tools = servers.flatMap((server) => server.tools);
    expect(tools.map(({ name, needsApproval }) => [name, needsApproval])).toEqual([
      ["read", undefined],
      ["read", undefined],
      ["remove", true],
    ]);
    const lines = signaturesOf(servers[1]?.tools ?? []).data.tools["./servers/files/index.ts"] ?? [];
    expect(lines.map((line) => line.includes("Needs the user"))).toEqual([false, true]);
  });

  it("lists the same objects each time, by which indexes are cached", async () => {
    const [one, other] = [await catalog.list(), await catalog.list()];
    expect(one.servers[0]).toBe(plain);
    expect(other.servers[1]).toBe(one.servers[1]);
  });
});

import type { RankedTool } from "@cem/core";
import { describe, expect, it } from "vitest";
import { shortList } from "./catalog-tools.ts";

function found(count: number, characters: number): RankedTool[] {
  return Array.from({ length: count }, (_, at) => ({
    tool: {
      server: "git",
      name: `tool_${at}`,
      kind: "local",
      description: "",
      inputSchema: { type: "object" },
      callStyle: "object",
      signature: `tool_${at}(input: { ${"a".repeat(characters)}: string }): Promise<string>`,
      module: "./servers/git/index.ts",
    },
    score: 1 - at / 100,
    reason: "",
  }));
}

describe("shortList", () => {
  it("keeps all whose signatures are short, the first of those that are long, and never fewer than three", () => {
    const kept = (characters: number): number => {
      const tools = found(10, characters).map((one) => ({
        ...one,
        tool: {
          ...one.tool,
          inputSchema: { type: "object", properties: { ["a".repeat(characters)]: { type: "string" } } },
        },
      }));
      return shortList(tools).length;
    };
    expect(kept(20)).toBe(10);
    expect(kept(600)).toBeLessThan(8);
    expect(kept(600)).toBeGreaterThan(3);
    expect(kept(5_000)).toBe(3);
  });
});

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
  it("keeps all whose signatures are short, the first of those that are long, and never fewer than two", () => {
    const kept = (characters: number): number => {
      const tools = found(10, characters).map((one, at) => ({
        ...one,
        tool: {
          ...one.tool,
          inputSchema: { type: "object", properties: { ["a".repeat(characters) + at]: { type: "string" } } },
        },
      }));
      return shortList(tools).length;
    };
    expect(kept(20)).toBe(10);
    expect(kept(600)).toBeLessThan(8);
    expect(kept(600)).toBeGreaterThan(3);
    expect(kept(5_000)).toBe(2);
  });

  it("has the tools near the best alone, one of several servers in each, and none where the search is in doubt", () => {
    const [best, other, ...rest] = found(4, 10);
    if (best === undefined || other === undefined) throw new Error("There are none.");
    const alike = {
      ...best,
      tool: { ...best.tool, server: "hg", module: "./servers/hg/index.ts" },
      score: 0.8,
    };
    const far = rest.map((one) => ({ ...one, score: 0.3 }));
    expect(shortList([best, other, alike, ...far])).toEqual([best, alike, other]);
    expect(shortList([{ ...best, isDoubtful: true as const }])).toEqual([]);
  });

  it("leaves out comments on results where a signature takes much room", () => {
    const fields = (description?: string) => ({
      type: "object",
      properties: Object.fromEntries(
        ["description", "a", "b", "c", "d", "e", "f", "g", "h", "i"].map((name) => [
          name,
          { type: "string", ...(description !== undefined && { description }) },
        ]),
      ),
    });
    const shown = (description: string) => {
      const inputSchema = { type: "object", properties: { path: { type: "string" } } };
      const [one] = found(1, 10);
      if (one === undefined) return undefined;
      const tool = { ...one.tool, inputSchema, outputSchema: fields(description) };
      return shortList([{ ...one, tool }])[0]?.tool.outputSchema;
    };
    expect(shown("short")).toEqual(fields("short"));
    expect(shown("words ".repeat(20))).toEqual(fields());
  });
});

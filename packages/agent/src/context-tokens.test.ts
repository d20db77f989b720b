import { describe, expect, it } from "vitest";
import { add } from "../fixtures/stages.ts";
import { contextTokens, countText, createDefinitionTokens, directTools } from "./context-tokens.ts";

const LIMIT = 4 * 1024;
/** One token for each character. */
const count = (text: string): number => text.length;

describe("countText", () => {
  it("counts texts of up to 4 Ki characters whole and scales longer ones up", () => {
    const counted: number[] = [];
    const halves = (text: string): number => {
      counted.push(text.length);
      return text.length / 2;
    };
    expect([countText("x".repeat(LIMIT), halves), countText("x".repeat(3 * LIMIT), halves)]).toEqual([
      LIMIT / 2,
      (3 * LIMIT) / 2,
    ]);
    expect(counted).toEqual([LIMIT, LIMIT]);
  });

  it("counts nothing for an empty text", () => {
    expect(countText("", () => Number.NaN)).toBe(0);
  });
});

describe("tokens of definitions", () => {
  it("counts what a model reads of each definition, once", () => {
    const counted: string[] = [];
    const counting = (text: string): number => {
      counted.push(text);
      return text.length;
    };
    const { name, description, inputSchema } = add;
    const text = JSON.stringify({ name, description, inputSchema });
    const tokens = createDefinitionTokens();
    expect(tokens([], counting)).toBe(0);
    expect(tokens([add, { ...add, server: "other" }], counting)).toBe(2 * text.length);
    expect(tokens([add], counting)).toBe(text.length);
    expect(counted).toEqual([text]);
    const other = { ...add, outputSchema: { type: "number" } };
    expect(tokens([other], counting)).toBe(text.length);
  });

  it("takes the definitions beyond 500 to be like those that it counted", () => {
    let counted = 0;
    const counting = (text: string): number => {
      counted += 1;
      return Math.ceil(text.length / 4);
    };
    const many = Array.from({ length: 2_000 }, (_, at) => ({ ...add, name: `add_${at}` }));
    const exact = many.reduce(
      (sum, { name, description, inputSchema }) =>
        sum + Math.ceil(JSON.stringify({ name, description, inputSchema }).length / 4),
      0,
    );
    const tokens = createDefinitionTokens();
    expect(tokens(many, counting) / exact).toBeCloseTo(1, 2);
    expect(tokens(many, counting) / exact).toBeCloseTo(1, 2);
    expect(counted).toBe(500);
  });
});

describe("directTools", () => {
  it("are those of servers, without what cem offers beside them", () => {
    const host = { ...add, kind: "host" } as const;
    const request = { ...host, originalName: "mcp:resources/read" };
    const skill = { ...add, kind: "skill" } as const;
    expect(directTools([add, host, request, skill])).toEqual([host]);
    expect(directTools([add, skill])).toEqual([add]);
  });
});

describe("contextTokens", () => {
  it("compares definitions and results with what came back", () => {
    const results = [
      { sample: "abc", characters: 3 },
      { sample: "ab", characters: 20 },
      { sample: "", characters: 0 },
    ];
    expect(contextTokens(100, results, "four", count)).toEqual({ direct: 123, used: 4, saved: 119 });
  });

  it("saves nothing, rather than less, when more came back", () => {
    expect(contextTokens(1, [], "four", count)).toEqual({ direct: 1, used: 4, saved: 0 });
  });
});

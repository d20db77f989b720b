import { describe, expect, it } from "vitest";
import { readToolSource } from "./read-tool-source.ts";

describe("readToolSource", () => {
  it("reads exported functions without a file", () => {
    const code =
      "/** Add two numbers. */\nexport async function add(input: { a: number; b: number }): Promise<number> { return 0; }";
    expect(readToolSource(code)).toEqual({
      ok: true,
      functions: [
        {
          name: "add",
          line: 2,
          description: "Add two numbers.",
          inputSchema: {
            type: "object",
            properties: { a: { type: "number" }, b: { type: "number" } },
            required: ["a", "b"],
          },
          outputSchema: { type: "number" },
          callStyle: "object",
          call: "(input: { a: number; b: number }): Promise<number>",
          isAsync: true,
        },
      ],
    });
  });

  it("says where source is not valid", () => {
    expect(readToolSource("\nexport const = 1;")).toMatchObject({ ok: false, line: 2 });
  });
});

import { describe, expect, it } from "vitest";
import { toolOf } from "../test/tool-tree.ts";

describe("a tool's signature", () => {
  it.each([
    [
      "export async function tool(input: { a: number }): Promise<number> { return 1; }",
      "object",
      "tool(input: { a: number }): Promise<number>",
    ],
    ["export async function tool(): Promise<string[]> { return []; }", "object", "tool(): Promise<string[]>"],
    [
      "export async function tool(options: { a?: number } = {}): Promise<void> {}",
      "object",
      "tool(options?: { a?: number }): Promise<void>",
    ],
    [
      "export const tool = async (input: { a: 'x' | 'y' }): Promise<('x' | 'y')[]> => [];",
      "object",
      'tool(input: { a: "x" | "y" }): Promise<("x" | "y")[]>',
    ],
    ["export function tool(x: number): number { return x; }", "positional", "tool(x: number): number"],
    [
      "export function tool(a: string, b = 2, c?: boolean) { return a; }",
      "positional",
      "tool(a: string, b?: number, c?: boolean): unknown",
    ],
    [
      "/** @param b How often. */\nexport function tool(a: string, b = 2) { return a; }",
      "positional",
      "tool(a: string, b?: number): unknown",
    ],
    ["export async function* tool(n: number) { yield n; }", "positional", "tool(n: number): unknown"],
    [
      "export function tool(list: number[]): number { return 0; }",
      "positional",
      "tool(list: number[]): number",
    ],
    ["export function tool(when: Date): Date { return when; }", "positional", "tool(when: Date): Date"],
    [
      "interface Tree { at: Date; next?: Tree }\nexport function tool(tree: Tree, trees: Tree[]): void {}",
      "positional",
      "tool(tree: { at: Date; next?: object }, trees: { at: Date; next?: object }[]): void",
    ],
    [
      "export function tool(...values: number[]): number { return 0; }",
      "positional",
      "tool(...values: number[]): number",
    ],
    [
      "async function tool(input: any) {}\nexport { tool };",
      "object",
      "tool(input: unknown): Promise<unknown>",
    ],
    [
      "export const tool = (async function (input: { a: string }): Promise<Uint8Array> { throw 1; }) satisfies unknown;",
      "object",
      "tool(input: { a: string }): Promise<Uint8Array>",
    ],
    [
      "export const tool: (a: string, b?: number) => Promise<string[]> = async (a, b = 2) => [a];",
      "positional",
      "tool(a: string, b?: number): Promise<string[]>",
    ],
    [
      "type Find = (input: { q: string }) => Promise<Hit[]>;\ninterface Hit { id: number }\nexport const tool: Find = retried(async ({ q }) => []);",
      "object",
      "tool(input: { q: string }): Promise<{ id: number }[]>",
    ],
    [
      "export async function tool<T extends { id: string }>(input: T): Promise<T[]> { return []; }",
      "object",
      "tool(input: { id: string }): Promise<{ id: string }[]>",
    ],
    [
      "export function tool(a: string): string;\nexport function tool(a: number): number;\nexport function tool(a: any): any {}",
      "positional",
      "tool(a: string): string",
    ],
    [
      "export async function tool(input: { kind: 'a'; x: number } | { kind: 'b' }): Promise<void> {}",
      "object",
      'tool(input: { kind: "a"; x: number } | { kind: "b" }): Promise<void>',
    ],
    [
      "import type { Input } from 'somewhere';\nexport async function tool(input: Input): Promise<void> {}",
      "object",
      "tool(input: unknown): Promise<void>",
    ],
  ])("of %s", async (code, callStyle, signature) => {
    expect(await toolOf(code)).toMatchObject({ callStyle, signature });
  });

  it("keeps the order of positional parameters, and marks a rest parameter", async () => {
    const { inputSchema } = await toolOf(
      "/** @param a First.\n * @param b - Second. */\nexport function tool(b: string, a?: number, ...more: string[]) {}",
    );
    expect(Object.entries(inputSchema.properties ?? {})).toEqual([
      ["b", { type: "string", description: "Second." }],
      ["a", { type: "number", description: "First." }],
      ["more", { type: "array", items: { type: "string" }, "x-rest": true }],
    ]);
    expect(inputSchema.required).toEqual(["b"]);
  });

  it("has no outputSchema where the result is unknown or nothing", async () => {
    for (const code of [
      "export async function tool(): Promise<void> {}",
      "export async function tool() { return 1; }",
    ])
      expect((await toolOf(code)).outputSchema).toBeUndefined();
  });

  it("stays on one line whatever is in the types", async () => {
    const { signature } = await toolOf(
      'export async function tool(input: { "a\\n*/b": "x\\ny" }): Promise<void> {}',
    );
    expect(signature).toBe(String.raw`tool(input: { "a\n*/b": "x\ny" }): Promise<void>`);
  });
});

describe("a tool's comment", () => {
  it("gives the description, the annotations and the result's description", async () => {
    const tool = await toolOf(`
      // oxlint-disable-next-line no-console
      /**
       * Find things
       * quickly, see {@link other}.
       *
       * Second paragraph with \`@code\`.
       *
       * @param input What to find.
       * @returns The things found.
       * @readOnly
       * @destructive false
       * @openWorld
       * @title Finder
       * @deprecated use other
       */
      export async function tool(input: { q: string }): Promise<string[]> { return []; }
    `);
    expect(tool.description).toBe(
      "Find things quickly, see other.\n\nSecond paragraph with `@code`.\n\nDeprecated: use other",
    );
    expect(tool.annotations).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      openWorldHint: true,
      title: "Finder",
    });
    expect(tool.outputSchema).toEqual({
      type: "array",
      items: { type: "string" },
      description: "The things found.",
    });
  });

  it("has tags behind its text where it is one line", async () => {
    const tool = await toolOf(
      "/** Deletes all, ask @destructive-team first. @destructive @param a What. */\nexport function tool(a: string): void {}",
    );
    expect(tool.description).toBe("Deletes all, ask @destructive-team first.");
    expect(tool.annotations).toEqual({ destructiveHint: true });
    expect(tool.inputSchema.properties?.["a"]).toEqual({ type: "string", description: "What." });
  });

  it("gives the types of JavaScript", async () => {
    const tool = await toolOf("export {};", {
      "index.js": `
        /**
         * Pay somebody.
         * @param {object} input
         * @param {number} input.amount - How much.
         * @param {"EUR"|"USD"} [input.currency] Which currency.
         * @returns {Promise<{id: string}>} The payment.
         */
        export async function tool(input) {}
      `,
    });
    expect(tool.signature).toBe(
      'tool(input: { amount: number; currency?: "EUR" | "USD" }): Promise<{ id: string }>',
    );
    expect(tool.inputSchema.properties?.["amount"]).toEqual({ type: "number", description: "How much." });
  });

  it("is not taken from a file's own comment", async () => {
    const tool = await toolOf(
      "/** About the file. */\n\nimport 'node:fs';\nexport async function tool(): Promise<void> {}",
    );
    expect(tool.description).toBe("");
  });

  it.each([
    ["input: string", "positional"],
    ["input: string[]", "positional"],
    ['input: "a" | "b"', "positional"],
    ["input: { a: string } | { b: string }", "object"],
    ["input: { a: string } | string", "positional"],
    ["input", "object"],
    ["value", "positional"],
    ["value: unknown", "positional"],
    ["request: SearchRequest", "object"],
    ["value: SearchParams", "object"],
    ["value: Missing", "positional"],
    ["...input: string[]", "positional"],
    ["", "object"],
  ])("takes (%s) as %s", async (parameters, callStyle) => {
    expect((await toolOf(`export async function tool(${parameters}) {}`)).callStyle).toBe(callStyle);
  });

  it.each([
    "export const tool = ((input: { a: string }) => input.a) as (input: { a: string }) => string;",
    "export const tool = (async function (input: { a: string }) {}) satisfies unknown;",
    "const tool = (input: { a: string }) => input.a;\nexport { tool };",
  ])("is found through assertions and exports: %s", async (code) => {
    expect((await toolOf(code)).inputSchema.properties).toEqual({ a: { type: "string" } });
  });

  it("says that it is deprecated", async () => {
    const tool = (text: string) =>
      toolOf(`/**\n * Adds.\n *\n * @deprecated${text}\n */\nexport async function tool() {}`);
    expect((await tool("")).description).toBe("Adds.\n\nDeprecated.");
    expect((await tool(" Use plus.")).description).toBe("Adds.\n\nDeprecated: Use plus.");
  });
});

import { describe, expect, it } from "vitest";
import { toolOf } from "../test/tool-tree.ts";

describe("a tool's types that are large", () => {
  it("are read to a bound for each file, and the functions are there", async () => {
    const types = Array.from({ length: 30 }, (_, at) => `type T${at + 1} = { a: T${at}; b: T${at} };`).join(
      "\n",
    );
    const others = Array.from(
      { length: 300 },
      (_, at) => `export async function f${at}(input: T30): Promise<T30> {}`,
    );
    const started = process.cpuUsage();
    const tool = await toolOf(
      `type T0 = string;\n${types}\nexport async function tool(input: { q: string }): Promise<T30> {}\n${others.join("\n")}`,
    );
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(10_000);
    expect(tool.inputSchema.properties).toEqual({ q: { type: "string" } });
  });

  it("end where interfaces extend each other in a long line", async () => {
    const line = Array.from(
      { length: 2_000 },
      (_, at) => `interface I${at} extends I${at + 1} { a${at}: string }`,
    );
    const { inputSchema } = await toolOf(
      `${line.join("\n")}\nexport async function tool(input: I0): Promise<void> {}`,
    );
    expect(inputSchema.properties).toHaveProperty("a0", { type: "string" });
  });

  it("leave out a default of too many parts", async () => {
    const lists = Array.from({ length: 7 }, (_, at) => `const c${at + 1} = [${`c${at}, `.repeat(60)}];`).join(
      "\n",
    );
    const { inputSchema } = await toolOf(
      `const c0 = [1];\n${lists}\nexport async function tool({ a = c7, b = c0 }: { a?: unknown; b?: number[] } = {}) {}`,
    );
    expect(inputSchema.properties).toMatchObject({ a: {}, b: { default: [1] } });
    expect(inputSchema.properties?.["a"]).not.toHaveProperty("default");
  });
});

describe("a tool's recursive types", () => {
  it("become definitions of an input that contains itself", async () => {
    const tool = await toolOf(
      "interface Tree { name: string; children?: Tree[] }\nexport async function tool(input: Tree): Promise<Tree> { return input; }",
    );
    expect(tool.callStyle).toBe("object");
    expect(tool.inputSchema).toMatchObject({
      type: "object",
      properties: {
        name: { type: "string" },
        children: { type: "array", items: { $ref: "#/$defs/Tree" } },
      },
      required: ["name"],
    });
    expect(tool.inputSchema["$defs"]).toHaveProperty(["Tree", "properties", "name"], { type: "string" });
    expect(tool.outputSchema).toHaveProperty("$defs");
  });

  it("of one name in two files become two definitions", async () => {
    const node = (value: string) => `export interface Node { value: ${value}; next?: Node }`;
    const { inputSchema } = await toolOf(
      'import type { Node as A } from "./_a.ts";\nimport type { Node as B } from "./_b.ts";\nexport async function tool(input: { a: A; b: B }): Promise<void> {}',
      { "_a.ts": node("string"), "_b.ts": node("number") },
    );
    expect(inputSchema.properties).toEqual({
      a: { $ref: "#/$defs/Node" },
      b: { $ref: "#/$defs/Node_2" },
    });
    expect(inputSchema["$defs"]).toMatchObject({
      Node: { properties: { value: { type: "string" }, next: { $ref: "#/$defs/Node" } } },
      Node_2: { properties: { value: { type: "number" }, next: { $ref: "#/$defs/Node_2" } } },
    });
  });

  it("end where constants refer to one another", async () => {
    const { inputSchema } = await toolOf(
      "const a = b;\nconst b = a;\nexport async function tool(input: { value: typeof a }): Promise<void> {}",
    );
    expect(inputSchema.properties).toEqual({ value: {} });
  });

  it("are cut where they nest without end", async () => {
    const { inputSchema, signature } = await toolOf(
      "type Deep<T> = { value: T; deeper: Deep<T[]> };\nexport async function tool(input: { deep: Deep<string> }): Promise<void> {}",
    );
    expect(inputSchema.properties?.["deep"]).toMatchObject({
      properties: { value: { type: "string" }, deeper: expect.any(Object) },
    });
    expect(signature).toMatch(/^tool\(input: /);
  });
});

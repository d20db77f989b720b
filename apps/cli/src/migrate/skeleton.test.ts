import { describe, expect, it } from "vitest";
import { readPythonModule } from "./python-module.ts";
import { functionSkeleton } from "./migrate-modules.ts";

function skeletonOf(code: string): string {
  const [first] = readPythonModule(code).functions;
  return first === undefined ? "" : functionSkeleton(first, "tool.py");
}

describe("functionSkeleton", () => {
  it("has the comment and the declaration of the function", () => {
    const text = skeletonOf(
      'async def hello(name: str,\n    n: int = 1) -> str:\n    """Says hello.\n\n    Args:\n        name: Who.\n    """\n    return name\n',
    );
    expect(text).toBe(`/**
 * Says hello.
 *
 * Args:
 *     name: Who.
 *
 * In Python: async def hello(name: str, n: int = 1) -> str
 */
export async function hello(input: Record<string, unknown>): Promise<unknown> {
  void input;
  throw new Error("hello is not written in TypeScript yet: see tool.py:1.");
}
`);
  });

  it("can't be made to say more than comments and types", () => {
    const text = skeletonOf('def delete(a: Literal["*/ evil()"] = "*/"):\n    """x */ evil() /*"""\n');
    expect(text).toContain("export async function delete_(input: Record<string, unknown>)");
    expect(text.replaceAll(/\/\*\*[\s\S]*?\*\//gu, "").replaceAll(/"(?:\\.|[^"])*"/gu, "")).not.toContain(
      "evil",
    );
  });

  it("reads what is half written, and no methods or nested functions", () => {
    const { functions } = readPythonModule(
      "class A:\n    def method(self): pass\n\n@tool\nasync def one(a: int) -> None:\n    def inner(): pass\n\ndef broken(a: int,\n",
    );
    expect(functions.map(({ name }) => name)).toContain("one");
    expect(functions.map(({ name }) => name)).not.toContain("inner");
    expect(functions.map(({ name }) => name)).not.toContain("method");
  });

  it.each([
    ['call_mcp_tool("s", "t", {"a": 1})', { server: "s", tool: "t" }],
    [
      "await client.call_mcp_tool(server_name='s', tool_name='t', parameters={'x': 'y'})",
      { server: "s", tool: "t" },
    ],
    ["call_mcp_tool(parameters={}, tool_name='t', server_name='s')", { server: "s", tool: "t" }],
    ["call_mcp_tool(server, tool, {})", undefined],
    ["other('s', 't')", undefined],
  ])("sees that a function only calls an MCP tool: %s", (call, expected) => {
    expect(readPythonModule(`def f(a):\n    return ${call}\n`).functions[0]?.mcpTool).toEqual(expected);
  });
});

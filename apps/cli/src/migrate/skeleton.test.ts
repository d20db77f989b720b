import { describe, expect, it } from "vitest";
import { readPythonModule } from "./python-module.ts";
import { functionSkeleton } from "./migrate-modules.ts";

function skeletonOf(code: string): string {
  const [first] = readPythonModule(code).functions;
  return first === undefined ? "" : functionSkeleton(first, "tool.py");
}

/** The members of the input, without comments. */
function inputOf(parameters: string): string {
  const text = skeletonOf(`def f(${parameters}):\n    pass\n`).replaceAll(/\/\*\*[^/]*\*\/\s*/gu, "");
  return (
    /\{\n(?<members>[\s\S]*?)\n\}\n/u.exec(text)?.groups?.["members"]?.replaceAll(/\s+/gu, " ").trim() ?? ""
  );
}

describe("functionSkeleton", () => {
  it.each([
    ["a: str, b: int, c: float, d: bool", "a: string; b: number; c: number; d: boolean;"],
    ["a: list[int] | None = None", "a?: number[] | null;"],
    ["a: Optional[List[Dict[str, Any]]] = None", "a?: Record<string, unknown>[] | null;"],
    ["a: typing.Union[str, int]", "a: string | number;"],
    ['a: Literal["x", "y|z"] = "x"', 'a?: "x" | "y|z";'],
    ["a: Tuple[int, str], b: tuple[int, ...]", "a: [number, string]; b: number[];"],
    [
      "a, b=3, c='x', d=True, e=None, f=[]",
      "a: unknown; b?: number; c?: string; d?: boolean; e?: unknown; f?: unknown[];",
    ],
    ["a: int, /, b: int, *, c: int = 2", "a: number; b: number; c?: number;"],
    ["*names: str, **more: Any", "names?: string[]; [name: string]: unknown;"],
    ["a: 'str', b: \"Optional[int]\" = None", "a: string; b?: number | null;"],
    ["a: Dict[str, Tuple[int, List[str]]] = {'k': (1, ['x, y'])}", "a?: Record<string, [number, string[]]>;"],
    ["a: pd.DataFrame, b: Callable[[int], str]", "a: unknown; b: unknown;"],
    ["a: Annotated[str, Field(description='a, b')]", "a: string;"],
    ["a: int = (1 if x else 2), b: str = 'a,b=c'", "a?: number; b?: string;"],
    ["self, a: int", "a: number;"],
    ["a: int,\n  # a comment, with: signs\n  b: int", "a: number; b: number;"],
  ])("types %s", (parameters, expected) => {
    expect(inputOf(parameters)).toBe(expected);
  });

  it.each([
    [
      "Google's",
      "Says hello.\n\n    Args:\n        name (str): Who:\n            a person.\n        n: How often.\n\n    Returns:\n        The text.",
    ],
    [
      "Sphinx's",
      "Says hello.\n\n    :param str name: Who:\n        a person.\n    :param n: How often.\n    :returns: The text.",
    ],
    [
      "NumPy's",
      "Says hello.\n\n    Parameters\n    ----------\n    name : str\n        Who: a person.\n    n : int\n        How often.\n\n    Returns\n    -------\n    The text.",
    ],
  ])("reads comments in %s style", (_, docstring) => {
    const text = skeletonOf(
      `def hello(name: str, n: int) -> str:\n    """${docstring}\n    """\n    return name\n`,
    );
    expect(text).toContain("  /** Who: a person. */\n  name: string;\n  /** How often. */\n  n: number;");
    expect(text).toContain(
      "/**\n * Says hello.\n *\n * @returns The text.\n */\nexport async function hello(input: HelloInput): Promise<string> {",
    );
  });

  it("can't be made to say more than comments and types", () => {
    const text = skeletonOf('def delete(a: Literal["*/ evil()"] = "*/"):\n    """x */ evil() /*"""\n');
    expect(text).toContain("export async function delete_(input: DeleteInput = {})");
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
    expect(skeletonOf("def nothing() -> None:\n  pass\n")).toContain("nothing(): Promise<void>");
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

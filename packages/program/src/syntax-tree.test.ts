import { describe, expect, it } from "vitest";
import { parseProgram } from "./parse-program.ts";
import { runtimeNodes, visitNodes } from "./syntax-tree.ts";

function parsed(code: string) {
  const result = parseProgram(code);
  if (!result.ok) throw new Error(result.error.message);
  return result.program.ast.program;
}

describe("visitNodes", () => {
  const root = parsed("const a: string = f((b) => g(b)); type T = unknown;");
  const names = (types: string[]) => types.filter((type) => !type.endsWith("Declarator"));

  it("visits types too, parents before children, and nothing below a node that it must not enter", () => {
    const all = [...visitNodes(root, ({ type }) => type !== "ArrowFunctionExpression")];
    expect(names(all.map(({ node }) => node.type))).toEqual([
      "Program",
      "VariableDeclaration",
      "Identifier",
      "TSTypeAnnotation",
      "TSStringKeyword",
      "CallExpression",
      "Identifier",
      "TSTypeAliasDeclaration",
      "Identifier",
      "TSUnknownKeyword",
    ]);
  });

  it("without types is what exists at run time", () => {
    const types = [...runtimeNodes(root)].map(({ node }) => node.type);
    expect(types).toContain("ArrowFunctionExpression");
    expect(types.filter((type) => type.startsWith("TS"))).toEqual([]);
  });
});

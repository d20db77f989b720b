import type { Node } from "@babel/types";
import { parseProgram } from "@cem/program";
import type { Scope } from "@cem/program";
import { describe, expect, it } from "vitest";
import { collectParts } from "./collect.ts";
import { Values } from "./values.ts";

/** The arguments that a program gives to the function `x`. */
function given(code: string): { values: Values; node: Node; scope: Scope } {
  const parsed = parseProgram(code);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const parts = collectParts(parsed.program.ast.program);
  const values = new Values(parts);
  for (const { node, scope } of parts.calls) {
    if (node.type !== "CallExpression" || node.callee.type !== "Identifier" || node.callee.name !== "x")
      continue;
    return { values, node: node.arguments[0] as Node, scope };
  }
  throw new Error("The program has to call x.");
}

function textIn(code: string): string | undefined {
  const { values, node, scope } = given(code);
  return values.textOf(node, scope);
}

function originIn(code: string): string | undefined {
  const { values, node, scope } = given(code);
  return values.originOf(node, scope);
}

describe("the text of an expression", () => {
  it.each<[string, string | undefined]>([
    ["x('a' + 1 + 'b')", "a1b"],
    ["x(1)", "1"],
    ["x(1 + 2)", undefined],
    ["x('a' - 'b')", undefined],
    ["x('a' + y)", undefined],
    ["x(y + 'a')", undefined],
    ["x(`a${1}b${'c'}`)", "a1bc"],
    ["x(`a${y}`)", undefined],
    ["x(`\\x61`)", "a"],
    ["x((1, 'b'))", "b"],
    ["x(z = 'b')", "b"],
    ["x(z += 'b')", undefined],
    ["x(('a' as any) satisfies string)", "a"],
    ["x((<any>'a')!)", "a"],
    ["x(y ? 'a' : 'b')", undefined],
    ["import a from './b.ts'; x(a)", undefined],
    ["const a = 'b'; x(a)", "b"],
    ["let a; a = 'b'; x(a)", "b"],
    ["let a = 'b'; a = 'c'; x(a)", undefined],
    ["let a = 'b'; a += 'c'; x(a)", undefined],
    ["let a = 1; a++; x(a)", undefined],
    ["let a = 'b'; [a] = ['c']; x(a)", undefined],
    ["let a = 'b'; ({ a } = y); x(a)", undefined],
    ["let a = 'b'; ({ ...a } = y); x(a)", undefined],
    ["let a = 'b'; ({ a = 'c' } = y); x(a)", undefined],
    ["((a) => x(a))('b')", undefined],
    ["let a = 'b'; { let a = 'c'; } x(a)", "b"],
    ["let a = 'b'; { let a = 'c'; x(a) }", "c"],
    ["{ { var b = 'c'; } } x(b)", "c"],
    ["function f() { { var b = 'c'; } } x(b)", undefined],
    ["try {} catch (a) { a = 'b'; x(a) }", "b"],
    ["x(a); var c = b, b = a, a = 'd';", "d"],
    ["x(c); var c = b, b = a, a = 'd';", "d"],
    ["const a = a; x(a)", undefined],
  ])("%s", (code, text) => {
    expect(textIn(code)).toBe(text);
  });

  it("is known of a part of what is too deep, and of a long chain of variables", () => {
    expect(textIn(`x(${"(y, ".repeat(100)}'a'${")".repeat(100)});`)).toBe("a");
    expect(textIn(`x(${"'b' + (".repeat(100)}'a'${")".repeat(100)});`)).toBeUndefined();
    const chain = Array.from({ length: 100 }, (_, at) => `const a${at + 1} = a${at};`).join(" ");
    expect(textIn(`const a0 = 'b'; ${chain} x(a100);`)).toBe("b");
  });

  it("is not known of what is too large", () => {
    const long = "a".repeat(5_000);
    expect(textIn(`const a = '${long}'; x(a)`)).toHaveLength(5_000);
    expect(textIn(`const a = '${long}'; x(a + a)`)).toBeUndefined();
  });
});

describe("the origin of an expression", () => {
  it.each<[string, string | undefined]>([
    ["x(globalThis)", "global"],
    ["x(self.window)", "global"],
    ...["global", "frames", "top", "self", "window"].map((name): [string, string] => [
      `x(${name})`,
      "global",
    ]),
    ...["process", "require"].map((name): [string, string] => [`x(${name})`, `global.${name}`]),
    ["x(eval<string>)", "global.eval"],
    ["x(eval.apply)", "global.eval"],
    ["x(process.run)", "global.process.run"],
    ["x(process['r' + 'un'])", "global.process.run"],
    ["x(process[y])", undefined],
    ["x(unknown)", undefined],
    ["x(globalThis.process?.run)", "global.process.run"],
    ["x(eval.call)", "global.eval"],
    ["x(eval.bind(null))", "global.eval"],
    ["x(eval.other(null))", undefined],
    ["x(() => 1)", "function"],
    ["x(class {})", "function"],
    ["x((() => 1).name)", undefined],
    ["x((() => 1).__proto__)", "function"],
    ["x('a'.constructor)", "constructor"],
    ["x([].constructor.constructor)", "global.Function"],
    ["x((() => 1).constructor)", "global.Function"],
    ["x('a'.constructor.b)", undefined],
    ["import { a as b } from './c.ts'; x(b)", "module:./c.ts.a"],
    ["import b from './c.ts'; x(b.default)", "module:./c.ts"],
    ["import * as b from './c.ts'; x(b.d)", "module:./c.ts.d"],
    ["import b from 'node:process'; x(b.env)", "global.process.env"],
    ["x(await import('./c.ts'))", "module:./c.ts"],
    ["x(require('./c.ts'))", "module:./c.ts"],
    ["x(require())", undefined],
    ["x(process.getBuiltinModule('fs'))", "module:fs"],
    ["const { run } = process; x(run)", "global.process.run"],
    ["const { ...all } = process; x(all)", "global.process"],
    ["const [run] = process; x(run)", undefined],
    ["x((1, process))", "global.process"],
    ["x(z = process)", "global.process"],
    ["x((process as any)!)", "global.process"],
    ["let a = 1; a = eval; x(a)", "global.eval"],
    ["let a = a.b; x(a)", undefined],
  ])("%s", (code, origin) => {
    expect(originIn(code)).toBe(origin);
  });

  it("is not known of too long a path, nor of a module of too long a name", () => {
    expect(originIn(`x(Math.${"a".repeat(2_100)})`)).toBeUndefined();
    expect(originIn(`import a from "./${"a".repeat(1_100)}"; x(a)`)).toBeUndefined();
  });
});

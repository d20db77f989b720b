import type { Node } from "@babel/types";
import { parseProgram } from "@cem/program";
import { describe, expect, it } from "vitest";
import { collectParts } from "./collect.ts";
import type { Constant } from "./constant.ts";
import type { Scope } from "./scopes.ts";
import { evaluate } from "./origins.ts";
import type { Values } from "./origins.ts";

/** What a program gives to the function `x`. */
function given(code: string): { values: Values; node: Node; scope: Scope } {
  const parsed = parseProgram(code);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const parts = collectParts(parsed.program.ast.program);
  const values = evaluate(parts);
  for (const { node, scope } of parts.calls) {
    if (node.type !== "CallExpression" || node.callee.type !== "Identifier" || node.callee.name !== "x")
      continue;
    return { values, node: node.arguments[0] as Node, scope };
  }
  throw new Error("The program has to call x.");
}

function constantsIn(code: string): readonly Constant[] {
  const { values, node, scope } = given(code);
  return values.constants.of(node, scope);
}

function originsIn(code: string): readonly string[] {
  const { values, node, scope } = given(code);
  return values.origins.of(node, scope);
}

describe("the constants of an expression", () => {
  it.each<[string, readonly Constant[]]>([
    ["x('a' + 1 + null + true)", ["a1nulltrue"]],
    ["x(1 + 2)", [3]],
    ["x(1 + '2')", ["12"]],
    ["x('1' + 2)", ["12"]],
    ["x(1 - 2)", []],
    ["x(-'3')", [-3]],
    ["x(+'3')", [3]],
    ["x(~3)", []],
    ["x(void 0)", [undefined]],
    ["x(!'')", [true]],
    ["x(!0)", [true]],
    ["x(!false)", [true]],
    ["x(!null)", [true]],
    ["x(!'a')", [false]],
    ["x(`a${1}b${'c'}`)", ["a1bc"]],
    ["x(String.raw`a\\n${1}b`)", ["a\\n1b"]],
    ["x(String.other`a`)", []],
    ["x(Text.raw`a`)", []],
    ["x(['a', , 'b'].join('-'))", ["a--b"]],
    ["x(['a', ['b', null]] + '')", ["a,b,"]],
    ["x(['a', y])", []],
    ["x(('a', 'b'))", ["b"]],
    ["x(y ? 'a' : 'b')", ["a", "b"]],
    ["x(y || 'b')", ["b"]],
    ["x(z = 'b')", ["b"]],
    ["x(('a' as any) satisfies string)", ["a"]],
    ["x((<any>'a')!)", ["a"]],
    ["x(('a'))", ["a"]],
    ["x('abc'[1])", ["b"]],
    ["x('abcdefghijkl'[11])", ["l"]],
    ["x('abc'['b'])", []],
    ["x('abc'.length)", [3]],
    ["x(('abc').replaceAll('b', 'd').length)", [3]],
    ["import a from './b.ts'; x(a)", []],
    ["(function f() { x(f) })()", []],
    ["((a) => { var b = 'c'; })('d'); x(b)", []],
    ["{ { var b = 'c'; } } x(b)", ["c"]],
    ["function f() { { var b = 'c'; } } x(b)", []],
    ["x(['a', 'b'][1])", ["b"]],
    ["x(['a', 'b'].length)", [2]],
    ["x((5).length)", []],
    ["x('abc'.other)", []],
    ["x({ a: 'b', ['c' + 'd']: 'e' }.cd)", ["e"]],
    ["x({ a: 'b', a: 'c' }['a'])", ["b", "c"]],
    ["x({ a() {}, ...y, b: 'c' }.b)", ["c"]],
    ["const o = { a: 'b' }; x(o.a)", ["b"]],
    ["const o = { 'a b': 'c' }; x(o['a b'])", ["c"]],
    ["const o = { a: 'b' }; x(o.c)", []],
    ["const o = 'text'; x(o[0])", ["t"]],
    ["var o = { a: (1, o?.a) || 'b' }; x(o.a)", ["b"]],
    ["const { a } = { a: 'b' }; x(a)", ["b"]],
    ["const { a: [b] } = { a: ['c'] }; x(b)", []],
    ["const [a, b] = ['c', 'd']; x(b)", ["d"]],
    ["const [a = 'b'] = y; x(a)", []],
    ["const [[a = 'b'] = ['c']] = [['d']]; x(a)", ["d", "c", "b"]],
    ["let a; ({ b: a } = { b: 'c' }); x(a)", ["c"]],
    ["let a; [a] = ['c']; x(a)", ["c"]],
    ["((a, b = 'd') => x(a + b))('c', 'e')", ["ce", "cd"]],
    ["(function (a) { x(a) })('c')", ["c"]],
    ["{ var a = 'b'; } x(a)", ["b"]],
    ["let a = 'b'; { let a = 'c'; } x(a)", ["b"]],
    ["let a = 'b'; { let a = 'c'; x(a) }", ["c"]],
    ["try {} catch (a) { a = 'b'; x(a) }", ["b"]],
    ["class A { constructor(private a = 'b') { x(a) } }", []],
    ["for (const a of y) { const b = 'c'; x(b) }", ["c"]],
    ["let a = 'b'; a = 'b'; x(a)", ["b"]],
    ["let a = 'b'; a = a + 'c'; x(a)", ["b", "bc", "bcc", "bccc", "bcccc", "bccccc", "bcccccc", "bccccccc"]],
    ["function f() { return x(a); } const a = b, b = c, c = 'd'", ["d"]],
    ["x(a); var c = b, b = a, a = 'd';", ["d"]],
    ["x(c); var c = b, b = a, a = 'd';", ["d"]],
    ["let a = ['b']; a = ['b']; x(a)", [["b"]]],
    ["let a = ['b']; a = ['c']; x(a)", [["b"], ["c"]]],
    ["let a = ['b']; a = ['b', 'c']; x(a)", [["b"], ["b", "c"]]],
  ])("%s", (code, values) => {
    expect(constantsIn(code)).toEqual(values);
  });

  it.each<[string, Constant]>([
    ["'abc'.at(-1)", "c"],
    ["'abc'.charAt(1)", "b"],
    ["'abc'.concat('d', 'e')", "abcde"],
    ["'a'.padEnd(3, 'b')", "abb"],
    ["'a'.padStart(3, 'b')", "bba"],
    ["'ab'.repeat(2)", "abab"],
    ["'aba'.replace('a', 'c')", "cba"],
    ["'aba'.replaceAll('a', '$&')", "$&b$&"],
    ["'abc'.slice(1)", "bc"],
    ["'a,b'.split(',')", ["a", "b"]],
    ["'abc'.substr(1, 1)", "b"],
    ["'abc'.substring(1, 2)", "b"],
    ["'ABC'.toLowerCase()", "abc"],
    ["'abc'.toUpperCase()", "ABC"],
    ["'abc'.toString()", "abc"],
    ["' a '.trim()", "a"],
    ["'a'.valueOf()", "a"],
    ["'\u1E9B'.normalize('NFKC')", "\u1E61"],
    ["(255).toString(16)", "ff"],
    ["(5).toString()", "5"],
    ["['a', 'b'].at(1)", "b"],
    ["['a'].concat(['b'])", ["a", "b"]],
    ["[['a'], 'b'].flat()", ["a", "b"]],
    ["['a', 'b'].reverse()", ["b", "a"]],
    ["['a', 'b'].toReversed()", ["b", "a"]],
    ["['a', 'b'].slice(1)", ["b"]],
    ["'ab'?.toUpperCase()", "AB"],
    ["atob('YQ==')", "a"],
    ["decodeURI('%61')", "a"],
    ["decodeURIComponent('%2F')", "/"],
    ["unescape('%u0061%62')", "ab"],
    ["String(1)", "1"],
    ["String(...['a'])", "a"],
    ["String.fromCharCode(97, 98)", "ab"],
    ["String.fromCodePoint(97, 98)", "ab"],
    ["String.fromCharCode(...[97, 98])", "ab"],
    ["Array.from('ab')", ["a", "b"]],
    ["Array.from(['a'])", ["a"]],
    ["Buffer.from([97, 98])", "ab"],
    ["Buffer.from('6162', 'hex')", "ab"],
    ["Buffer.from('YWI=', 'base64')", "ab"],
    ["Buffer.from('YWI', 'base64url')", "ab"],
    ["Buffer.from('ab', 'other')", "ab"],
  ])("%s", (expression, value) => {
    expect(constantsIn(`x(${expression})`)).toEqual([value]);
  });

  it.each([
    "'a'.other()",
    "['a'].push('b')",
    "'a'.join()",
    "['a'].toUpperCase()",
    "true.slice(1)",
    "atob('*')",
    "decodeURIComponent('%')",
    "other('a')",
    "f.g(y)",
    "Array.from(1)",
    "Buffer.from(1)",
    "'a'.repeat(-1)",
    "'a'.repeat(70000)",
    "'a'.padEnd(70000)",
    "'a'.padStart(70000)",
    "'aa'.repeat(20000).replaceAll('', 'bb')",
    "'aa'.repeat(20000).replaceAll('a', 'bb')",
    "'a'.repeat(20000).split('').join('bbbb')",
    "'a'.repeat(40000) + 'a'.repeat(40000)",
    "`${'a'.repeat(40000)}${'a'.repeat(40000)}`",
    "'a'.repeat(40000).concat('a'.repeat(40000))",
    `${"[".repeat(17)}1${"]".repeat(17)}`,
  ])("is not known: %s", (expression) => {
    expect(constantsIn(`x(${expression})`)).toEqual([]);
  });

  it("is known of a part of what is too deep", () => {
    const deep = `${"y || (".repeat(100)}x(y || 'a')${")".repeat(100)}`;
    expect(constantsIn(`f(${deep});`)).toEqual(["a"]);
    const whole = `${"y || (".repeat(100)}'a'${")".repeat(100)}`;
    expect(constantsIn(`x(${whole}, 1);`)).toEqual([]);
    expect(
      constantsIn(`let b; f(${"y || (".repeat(40)}b = ${"y || (".repeat(40)}'a'${")".repeat(80)}); x(b);`),
    ).toEqual(["a"]);
  });

  it("is not known of a decoder that the program declares itself", () => {
    expect(constantsIn("const atob = y; x(atob('YQ=='))")).toEqual([]);
  });

  it("is not known of what takes more than all large values together may", () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, at) => `const b${at} = a + '${at}';`).join("\n");
    const large = "const a = 'a'.repeat(60000);\n";
    expect(constantsIn(`${large}${lines(5)}\nx(a + 'b')`)).toHaveLength(1);
    expect(constantsIn(`${large}${lines(50)}\nx(a + 'b')`)).toEqual([]);
    expect(constantsIn(`${large}${lines(50)}\nx('a' + 'b')`)).toEqual(["ab"]);
  });
});

describe("what an expression stands for", () => {
  it.each([
    ["x(globalThis)", ["global"]],
    ["x(self.window)", ["global"]],
    ["x(Deno.run)", ["global.Deno.run"]],
    ["x(unknown)", []],
    ["x(globalThis.Deno?.run)", ["global.Deno.run"]],
    ["x(eval.call)", ["global.eval"]],
    ["x(eval.bind(null))", ["global.eval"]],
    ["x(eval.other(null))", []],
    ["x('a'.call)", ["member:call"]],
    ["x(() => 1)", ["function"]],
    ["x(class {})", ["function"]],
    ["x((() => 1).name)", []],
    ["x((() => 1).__proto__)", ["function"]],
    ["x('a'.__proto__)", ["value"]],
    ["x('a'.b)", ["member:b"]],
    ["x('a'.constructor)", ["constructor"]],
    ["x('a'.b.constructor)", ["global.Function"]],
    ["x([].constructor.constructor)", ["global.Function"]],
    ["x(y.constructor)", ["constructor"]],
    ["x(Math.max.constructor)", ["global.Function"]],
    ["x(Math.PI.constructor)", ["constructor"]],
    ["x(Function.prototype.constructor)", ["global.Function"]],
    ["x(Array.prototype.constructor)", ["constructor"]],
    ["import { a as b } from './c.ts'; x(b)", ["module:./c.ts.a"]],
    ["import b from './c.ts'; x(b.default)", ["module:./c.ts"]],
    ["import * as b from './c.ts'; x(b.d)", ["module:./c.ts.d"]],
    ["import b from 'node:process'; x(b.env)", ["global.process.env"]],
    ["import { setTimeout as b } from 'timers'; x(b)", ["global.setTimeout"]],
    ["x(await import('./c.ts'))", ["module:./c.ts"]],
    ["x(require('./c.ts'))", ["module:./c.ts"]],
    ["x(require())", []],
    ["x(process.getBuiltinModule('fs'))", ["module:fs"]],
    ["x(Reflect.get(Deno, 'r' + 'un'))", ["global.Deno.run"]],
    ["x(Reflect.get(Deno))", []],
    ["x(Reflect.getOwnPropertyDescriptor(Deno, 'run').value)", ["global.Deno.run"]],
    ["x(Object.getOwnPropertyDescriptor(Deno, 'run').get)", ["global.Deno.run"]],
    ["x(Object.getOwnPropertyDescriptor(Deno, 'run').set)", []],
    ["x(Object.freeze(Deno))", ["global.Deno"]],
    ["x(Object.freeze())", []],
    ["x(Object(Deno))", ["global.Deno"]],
    ["x(Object.assign(Deno, {}))", ["global.Deno"]],
    ["x(Object.create(Deno))", ["global.Deno"]],
    ["x(structuredClone(Deno))", ["global.Deno"]],
    ["x(Reflect.getPrototypeOf(Deno))", ["global.Deno"]],
    ["x(Object.getPrototypeOf(() => 1).constructor)", ["global.Function"]],
    ["x('a'.constructor.b)", []],
    ["import b from './c.ts'; x(b.d)", ["module:./c.ts.d"]],
    ["x(f.from('a'))", []],
    ["x(y ? Deno : eval)", ["global.Deno", "global.eval"]],
    ["x(y && Deno)", ["global.Deno"]],
    ["x((1, Deno))", ["global.Deno"]],
    ["x(z = Deno)", ["global.Deno"]],
    ["x((Deno as any)!)", ["global.Deno"]],
    ["let a = Deno; a = eval; x(a)", ["global.Deno", "global.eval"]],
    ["let a = Deno; a = Deno; x(a)", ["global.Deno"]],
    ["let a = Deno; a = a.b; x(a.b)", ["global.Deno.b", "global.Deno.b.b"]],
  ])("%s", (code, origins) => {
    expect(originsIn(code).slice(0, 2)).toEqual(origins);
  });

  it("keeps the first of too many, and those that matter", () => {
    const many = Array.from({ length: 30 }, (_, at) => `a = Math.m${at};`).join(" ");
    const found = originsIn(`let a; a = Math.max; x(a); ${many} a = Deno;`);
    expect(found).toHaveLength(16);
    expect(found).toContain("global.Deno");
  });

  it("is not known of too long a path, nor of a module of too long a name", () => {
    expect(originsIn(`x(Math${".a".repeat(1_100)})`)).toEqual([]);
    expect(originsIn(`import a from "./${"a".repeat(1_100)}"; x(a)`)).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { MAX_PROGRAM_CHARACTERS, parseProgram } from "./parse-program.ts";

function parsed(code: string) {
  const result = parseProgram(code);
  if (!result.ok) throw new Error(result.error.message);
  return result.program;
}

function problem(code: string) {
  const result = parseProgram(code);
  if (result.ok) throw new Error("The program had to be refused.");
  return result.error;
}

describe("parseProgram", () => {
  it("keeps what it parsed last", () => {
    const code = "export default 'kept';";
    const first = parseProgram(code);
    expect(parseProgram(code)).toBe(first);
    for (let index = 0; index < 8; index += 1) parseProgram(`export default ${index};`);
    expect(parseProgram(code)).not.toBe(first);
    const long = `export default 1;${" ".repeat(32 * 1024)}`;
    expect(parseProgram(long)).toBe(parseProgram(long));
  });

  it("lists imports with their names, places and kinds", () => {
    const { imports } = parsed(`import main, { a as b, type C } from "./servers/x/index.ts";
import * as all from "./y.ts";
import "./effect.ts";
import type { D } from "./z.ts";
export { e } from "./w.ts";
export * from "./v.ts";`);
    expect(imports.map(({ specifier, kind, typeOnly, line }) => [specifier, kind, typeOnly, line])).toEqual([
      ["./servers/x/index.ts", "import", false, 1],
      ["./y.ts", "import", false, 2],
      ["./effect.ts", "import", false, 3],
      ["./z.ts", "import", true, 4],
      ["./w.ts", "export", false, 5],
      ["./v.ts", "export", false, 6],
    ]);
    expect(imports[0]?.names).toEqual([
      { imported: "default", local: "main", typeOnly: false, line: 1, column: 8 },
      { imported: "a", local: "b", typeOnly: false, line: 1, column: 16 },
      { imported: "C", local: "C", typeOnly: true, line: 1, column: 24 },
    ]);
    expect(imports[1]?.names).toMatchObject([{ imported: "*", local: "all" }]);
    expect(imports[2]?.names).toEqual([]);
    expect(imports[4]?.names).toEqual([{ imported: "e", typeOnly: false, line: 5, column: 10 }]);
  });

  it("marks what is exported as a type", () => {
    const { imports } = parsed(
      `export { type a, b } from "./m.ts";\nexport type { c } from "./m.ts";\nexport type * from "./m.ts";`,
    );
    expect(imports.map(({ typeOnly }) => typeOnly)).toEqual([false, true, true]);
    expect(imports.map(({ names }) => names.map(({ typeOnly }) => typeOnly))).toEqual([
      [true, false],
      [true],
      [true],
    ]);
  });

  it("lists dynamic imports whose specifier is written out, wherever they are", () => {
    const code = `const f = async () => {\n  await import("./a.ts");\n  await import(name);\n};\ntype T = import("./types.ts").T;`;
    expect(parsed(code).dynamicImports).toEqual([{ specifier: "./a.ts", line: 2, column: 9 }]);
    for (const spaced of ["import ('a')", "import/* it */('a')", "import // it\n('a')", "import\n(\n'a')"]) {
      expect(parsed(spaced).dynamicImports).toMatchObject([{ specifier: "a", line: 1 }]);
    }
  });

  it.each([
    ["an empty program", ""],
    ["comments only", "// a\n/* b */"],
    ["a byte order mark", "\uFEFFconst a = 1;"],
    ["a hashbang", "#!/usr/bin/env deno\nconst a = 1;"],
    ["Windows line ends", "const a = 1;\r\nconst b = 2;\r\n"],
    ["a return at the top level", "return 1;"],
    ["await at the top level", "for await (const x of []) await x;"],
    [
      "TypeScript of all kinds",
      "enum A { B }\nabstract class C<T> { x!: T }\nconst d = 1 satisfies number as unknown;",
    ],
    ["letters of other languages", "const größe = '🦕', 名前 = 1;"],
  ])("takes %s", (_, code) => {
    expect(parseProgram(code).ok).toBe(true);
  });

  it("tells a syntax error with its 1-based line and column", () => {
    expect(problem("const a = 1;\nconst b: = 2;")).toEqual({
      name: "SyntaxError",
      message: "Unexpected token",
      line: 2,
      column: 10,
    });
    expect(problem("const a = 1; const a = 2;")).toMatchObject({
      line: 1,
      message: expect.stringContaining("'a'"),
    });
  });

  it.each([
    ["parentheses", "(".repeat(200_000)],
    ["negations", `${"!".repeat(250_000)}1`],
    ["arrays", "[".repeat(300_000)],
    ["conditions", "if(a)".repeat(70_000)],
    ["types", `let x: ${"Array<".repeat(100_000)}`],
    ["templates", "`${".repeat(200_000)],
  ])("survives %s nested without end", (_, code) => {
    expect(problem(code).message).toMatch(/nested too deeply|Unexpected|Unterminated|too long/);
  });

  it("stops where the parser would need hours", () => {
    expect(problem("<T>(".repeat(40)).message).toBe(
      "The program takes too long to parse. Simplify its nesting.",
    );
    expect(problem("a<b>(".repeat(40)).message).toContain("too long to parse");
    expect(parseProgram("const a = 1;").ok).toBe(true);
  });

  it.each([
    ["const a = &quot;b&quot;;", "HTML such as &quot;"],
    ["Here it is:\n```ts\n1\n```", "words or a fence around the code"],
    ['{"code": "return 1"}', "Perhaps this is JSON"],
    ["rows = [1]\nfor row in rows:\n    print(row)", "Perhaps this is Python"],
    ["from math import sqrt\nprint(sqrt(2))", "Perhaps this is Python"],
    ["import json\nx = 1", "Perhaps this is Python"],
    ["const a = 1;\n# comment", "Perhaps this is Python"],
    ['const a = f"b {c}";', "Perhaps this is Python"],
    ["if (a and b) c();", "Perhaps this is Python"],
    ["const a = [b for b in c]", "Perhaps this is Python"],
    ["const a = “b”;", "Write straight quotes."],
    ['const a = \\"b\\";', 'or quotes as \\": send plain ones'],
    ["<code>\nreturn 1;\n</code>", "words or a fence around the code"],
    [
      "f();\nfor (const a of b) {\n  if (a) {\n    f('}');\n}\nreturn 1;\n",
      "The { of line 2, or one within it,",
    ],
    ["npm install lodash", "a command of a shell"],
    ["const page = <div>{rows.length}</div>;", "JSX, which does not run here"],
    ['function f() {\n  return <p className="a">text</p>;\n}', "JSX, which does not run here"],
    ["const a = 1;\\nreturn a;", "two signs \\n"],
    ["function f() { await 1; }", "Make the function around it async."],
  ])("says what may be the cause of %j", (code, cause) => {
    expect(problem(code).message).toContain(cause);
  });

  it.each([
    "const a = f(1\nfor (const b of c) d();",
    "const a = [1\nfor await (const b of c) d();",
    "const a = { 'f': { b: 1 } };\nconst c = ;",
    "const a = /[{]/;\nfunction f() {",
    "const a = 1;\nf(`",
  ])("says no cause that is none of %j", (code) => {
    expect(problem(code).message).not.toMatch(/Python|is not closed/u);
  });

  it("looks past the escaped brackets of a regular expression", () => {
    expect(problem("const a = /\\(/;\nfunction f() {").message).toContain("The { of line 2");
  });

  it("takes a megabyte of source, and says what is too much", () => {
    let code = "";
    for (let index = 0; code.length < 1024 * 1024; index += 1)
      code += `const value${index}: number = ${index};\n`;
    expect(parsed(code).code).toBe(code);
    expect(problem(" ".repeat(MAX_PROGRAM_CHARACTERS + 1))).toEqual({
      name: "SyntaxError",
      message:
        "The program has 1,310,721 characters; the most is 1,310,720. Read large data from a file in /workspace instead.",
    });
    expect(problem("a;".repeat(200_000)).message).toContain("the most is 300,000");
    expect(parseProgram(`export default ${JSON.stringify("[1,2]".repeat(200_000))}`).ok).toBe(true);
  });
});

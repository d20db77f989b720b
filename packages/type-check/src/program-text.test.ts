import { describe, expect, it } from "vitest";
import { UnreadableProgram } from "./compiler/diagnostics.ts";
import { checkedText, mayLackAwait } from "./program-text.ts";

describe("checkedText", () => {
  it.each([
    ["return x;", "throw  x;"],
    ["return await f({ a: 1 })", "throw  await f({ a: 1 })"],
    ["return(x)", "throw (x)"],
    ["return{a:1}", "throw {a:1}"],
    ["return[1]", "throw [1]"],
    ["return`a ${b} return c`", "throw `a ${b} return c`"],
    ["return/a/.test(b)", "throw /a/.test(b)"],
    ["return/* why */x", "throw /* why */x"],
    ["return -1 // return it", "throw  -1 // return it"],
    ["return <T>x;", "throw  <T>x;"],
    ["return (\n  x\n)", "throw  (\n  x\n)"],
  ])("reads %j as %j", (code, text) => {
    expect(checkedText(code)).toBe(text);
  });

  it.each([
    ["return;", "$__$();"],
    ["return", "$__$()"],
    ["{ return }", "{ $__$();}"],
    ["{return}", "{$__$()}"],
    ["return;f()", "$__$();f()"],
    ["return\nf()", "$__$();f()"],
    ["if (a) return\n;[b].map(c)", "if (a) $__$()\n;[b].map(c)"],
    ["if (a) return\n(b)()", "if (a) $__$();(b)()"],
    ["if (a) return\r\n`b`", "if (a) $__$();\n`b`"],
    ["if (a) return // done\n[b]", "if (a) $__$();// done\n[b]"],
    ["if (a) return/* done */\nb", "if (a) $__$()/* done */\nb"],
    ["if (a) return; else b()", "if (a) $__$(); else b()"],
    ["if (a) return\nelse b()", "if (a) $__$();else b()"],
    ["if (a) return /* c */ ; else b()", "if (a) $__$() /* c */ ; else b()"],
    ["do return\nwhile (a)", "do $__$();while (a)"],
    ["return\nx", "$__$();x"],
  ])("reads %j, which has no value, as %j", (code, text) => {
    expect(checkedText(code)).toBe(text);
  });

  it.each([
    "if (a) { # }",
    "if (a) b(); else #",
    "if (a) if (b) #",
    "{ { # } }",
    "for (;;) #",
    "for (const a in b) { # }",
    "for (const a of b) { # }",
    "for await (const a of b) #",
    "while (a) { if (b) # }",
    "do { # } while (a)",
    "try { # } catch {}",
    "try {} catch (a) { # }",
    "try {} finally { # }",
    "switch (a) { case 1: # default: { # } }",
    "a: { # }",
    "f(() => { return 1; }); # g(function () { return 2; });",
  ])("finds the return in %j", (shape) => {
    expect(checkedText(shape.replaceAll("#", "return b;"))).toBe(shape.replaceAll("#", "throw  b;"));
  });

  it.each([
    "function f() { return 1; }",
    "async function* f() { if (a) return; }",
    "const f = () => { return 1; };",
    "const f = async (a) => { for (;;) { return a; } };",
    "f(function () { return; });",
    "const o = { m() { return 1; }, get g() { return 2; }, return: 3 };",
    "class A { m() { return 1; } #p() { return 2; } static s() { return 3; } f = () => { return 4; }; }",
    "if (a) { function f() { return 1; } }",
    "a.return(); a?.return; ({ return: b }); // return",
    "`return ${(() => { return 1; })()}`; 'return'; /return/;",
  ])("leaves %j as it is", (code) => {
    expect(checkedText(code)).toBe(code);
  });

  it("keeps the length of code that TypeScript can't be sent as it is", () => {
    expect(checkedText("\uFEFFreturn '\uD800 🦕';")).toBe(" throw  '\uFFFD 🦕';");
  });

  it("makes nothing of a syntax error, and throws for what can't be parsed at all", () => {
    expect(checkedText("return {;")).toBeUndefined();
    expect(checkedText("function f() { return 1; } return")).toBe("function f() { return 1; } $__$()");
    expect(() => checkedText("[".repeat(100_000))).toThrow(UnreadableProgram);
  });
});

describe("mayLackAwait", () => {
  const IMPORT = 'import { get } from "./servers/a/index.ts";\n';

  it.each([
    "return await get({});",
    "const all = await Promise.all([get({}), get({})]); return all.length;",
    "return await Promise.all([1, 2].map((id) => get({ id })));",
    "const own = async (given) => (await given).id; return await own(get({}));",
    "async function own(given) { return await given; }\nawait own(get({}));",
  ])("is false for %j", (code) => {
    expect(mayLackAwait(IMPORT + code)).toBe(false);
  });

  it.each([
    "return get({}).id;",
    "const one = get({}); return (await one).id;",
    "const own = (given) => given; return own(get({})) + 1;",
    "const own = async (given) => given; const made = own(get({})); return made.id;",
    "return [1, 2].filter(async (id) => (await get({ id })).ok);",
  ])("is true for %j", (code) => {
    expect(mayLackAwait(IMPORT + code)).toBe(true);
  });
});

import type { ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createGuard } from "../guard.ts";
import type { ReviewRule } from "../guard.ts";

const guard = createGuard();
const review = (code: string, tools: readonly ToolDefinition[] = []) => guard.review({ code, tools });

describe("code that is made from text", () => {
  it.each([
    "eval('1')",
    "(0, eval)('1')",
    "const e = eval; e('1')",
    "eval?.('1')",
    "eval`1`",
    "\\u0065val('1')",
    "const all = [eval]; all[0]('1')",
    "const h = { get x() { return eval } }; h.x('1')",
    "new Map([['k', eval]]).get('k')('1')",
    "globalThis['ev' + 'al']('1')",
    "globalThis[`ev${'al'}`]('1')",
    "globalThis['\\x65val']('1')",
    "globalThis/* a */./* b */eval('1')",
    "const k = 'ev'; globalThis[k + 'al']('1')",
    "let k; k = 'eval'; globalThis[k]('1')",
    "const g = globalThis; g['eval']('1')",
    "const { eval: e } = globalThis; e('1')",
    "self.eval('1')",
    "(globalThis as any).eval('1')",
    "Reflect.apply(eval, null, ['1'])",
    "Function('return 1')()",
    "new Function('return 1')()",
    "Reflect.construct(Function, ['return 1'])",
    "Function.bind(null)('return 1')()",
    "class A extends Function {}; new A('return 1')()",
    "new Proxy(Function, {})('1')",
    "[].constructor.constructor('return 1')()",
    "obj['const' + 'ructor']['const' + 'ructor']('x')()",
    "(() => {}).constructor('return 1')()",
    "Object.getPrototypeOf(async function () {}).constructor('return 1')()",
    "const { constructor: F } = () => {}; F('1')()",
    "const { constructor: { constructor: F } } = []; F('1')()",
    "const add = (a) => a; add.constructor('return this')()",
    "Math.max.constructor('return 1')()",
    "[].map['constructor']('return 1')()",
    "(function () { return arguments.callee.constructor('return 1')() })()",
    "class A { m() {} }; new A().m.constructor('return 1')()",
    "class A { static { this.constructor('return 1')() } }",
    "(async () => {})['__proto__'].constructor('return 1')",
    "globalThis.constructor.constructor('return 1')()",
    "Array.from('1', eval)",
    "import vm from 'node:vm'; vm.runInThisContext('1')",
    "import('data:' + 'text/javascript,1')",
  ])("is refused: %s", async (code) => {
    const { allowed, findings } = await review(code);
    expect(allowed).toBe(false);
    expect(findings.map(({ rule }) => rule)).toContain("code-from-text");
  });
});

describe("tests that nothing would run", () => {
  it.each([
    'import test from "node:test"; test("adds", () => {});',
    'import { describe, it } from "node:test"; describe("a", () => it("b", () => {}));',
    'const { it } = await import("node:test"); it("b", () => {});',
    'require("node:test")("b", () => {});',
    'import { spec } from "node:test/reporters";',
    'Deno.test("adds", () => {});',
    'const { test } = Deno; test("adds", () => {});',
    'globalThis.Deno.test.only("adds", () => {});',
    'Deno.bench("adds", () => {});',
  ])("are refused: %s", async (code) => {
    for (const one of [guard, createGuard({ securityChecks: false })]) {
      const { allowed, findings } = await one.review({ code, tools: [] });
      expect(allowed).toBe(false);
      expect(findings).toMatchObject([
        { rule: "no-test-runner", hint: expect.stringContaining("node:assert at the top level") },
      ]);
    }
  });

  it.each([
    'import type { TestContext } from "node:test"; import assert from "node:assert"; assert.equal(1, 1);',
    '/a/.test("a"); const Deno = { test() {} }; Deno.test();',
    "typeof Deno.test; Deno.env.get('HOME'); function test() {} test();",
  ])("are nothing else: %s", async (code) => {
    expect(await review(code)).toEqual({ allowed: true, findings: [] });
  });
});

describe("the message of a finding", () => {
  it.each<[string, string]>([
    ["eval('1')", "eval makes code from text."],
    ["new Function('1')", "Function makes code from text."],
    ["import vm from 'vm'; vm.runInThisContext('1')", "vm makes code from text."],
    ["import vm from 'node:vm'; f(vm)", "node:vm makes code from text."],
    ["import repl from 'repl'; repl.start()", "repl makes code from text."],
    ["x.constructor('1')", "A function's constructor makes code from text."],
  ])("says what is wrong with %s", async (code, message) => {
    const { findings } = await review(code);
    expect(findings).toContainEqual(expect.objectContaining({ message }));
  });
});

describe("names that are assigned from themselves", () => {
  it("lets a path that grows through", async () => {
    const lines = Array.from({ length: 5 }, (_, at) => `path = path + "/${at}";`).join("\n");
    for (const use of ["o[path] = 1;", "await fetch(path);", "await Deno.readTextFile(path);"]) {
      const code = `const o: any = {};\nlet path = "/workspace";\n${lines}\n${use}`;
      expect(await review(code)).toEqual({ allowed: true, findings: [] });
    }
  });

  it.each([
    "let f; const g = () => f; f = eval; const h = f; h('1');",
    "let f; [f] = [eval]; f = f; const h = f; h('1');",
  ])("still refuses code that is made from text: %s", async (code) => {
    expect((await review(code)).allowed).toBe(false);
  });

  it("keeps what matters of a function that can be too much", async () => {
    const all = Array.from({ length: 40 }, (_, at) => `f = Math.max${at};`).join(" ");
    expect((await review(`let f; ${all} f = eval; f('1');`)).allowed).toBe(false);
  });
});

describe("what can't be followed", () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `n = 'name${at}';`).join(" ");

  it("is no reason to refuse a program", async () => {
    const text = "x".repeat(40_000);
    const code = `let t = "${text}"; t = t + t; t = t + t; let n; ${names(9)}
const deep = ${"[".repeat(90)}t${"]".repeat(90)};
rows[n] = handlers[n](t, deep); rows[t]; rows.a${".b".repeat(900)};`;
    expect(await review(code)).toEqual({ allowed: true, findings: [] });
  });

  it("is a module's name that is too long", async () => {
    const { findings } = await review(`import { a } from "./${"./".repeat(600)}servers/x/index.ts";`);
    expect(findings).toMatchObject([{ rule: "no-packages", message: expect.stringContaining("1024") }]);
  });

  it("is of a hundred findings told at most, errors first", async () => {
    const warnings = Array.from({ length: 150 }, (_, at) => `f("AKIA${String(at).padStart(16, "Q")}");`).join(
      "\n",
    );
    const { allowed, findings } = await review(`${warnings}\neval("1");`);
    expect(allowed).toBe(false);
    expect(findings).toHaveLength(100);
    expect(findings[0]).toMatchObject({ rule: "code-from-text", severity: "error", line: 151 });
  });

  it("suggests names for the first wrong ones only", async () => {
    const code = Array.from({ length: 12 }, (_, at) => `import "./servers/file${at}/index.ts";`).join("\n");
    const tool = { server: "files", kind: "local", module: "./servers/files/index.ts" } as ToolDefinition;
    const { findings } = await review(code, [tool]);
    const suggested = findings.filter(({ message }) => message.includes("Did you mean files?"));
    expect([findings.length, suggested.length]).toEqual([12, 10]);
  });
});

describe("honest code", () => {
  it.each([
    "const o = { eval: 1 }; o.eval; redis.eval('x')",
    "Function: for (const a of b) { if (a) continue Function; break Function; }",
    "import { eval as e } from './a.ts'; e; export { e as Function }; import.meta.eval;",
    "const o = { Function() {}, eval: 1, get globalThis() { return 1; } }; class A { Deno = 1; #eval = 2 }",
    "try { f(); } catch (Deno) { g(Deno); } function h(eval_, [Function], ...process) { return f(process, Function); }",
    "const f = function Function() { return g(Function); }; (({ globalThis }) => f(globalThis))({});",
    "x === eval || x !== eval || x == eval || x != eval; switch (x) { case eval: f(); }",
    "f(globalThis); const { ...all } = process; globalThis[name] = 1; globalThis[key](1); Deno.run; new Worker('a.ts')",
    "globalThis[Symbol.iterator]; globalThis[Symbol.for('a')]; eval.name; Function.prototype; eval.length",
    "x instanceof Function || typeof eval === 'undefined' || f.constructor.name === 'AsyncFunction'",
    "class A { clone() { return new this.constructor(this.x) } }",
    "globalThis.crypto.randomUUID(); 'fetch' in globalThis; typeof globalThis.fetch",
    "globalThis.setTimeout(() => 1, 5); setTimeout(f, '100'); setTimeout.call(null, f, '5')",
    "const m = { a: 1 }; m['a' + 1]; handlers[name](1)",
    "await import(`./servers/x${1}/index.ts`)",
    "const window = rows.slice(0, 3); window[i]; average(window)",
    "for (const top of rows) out.push(top)",
    "function f(self) { return self[key]() }",
    "const text = 'rm -rf / eval(1) /etc/passwd'; // new Function()",
    "import { readFile } from 'node:fs/promises'; await readFile('/workspace/a.txt'); await readFile('/tmp/x')",
    "while (true) { const page = await list(); if (!page.next) break; }",
    "outer: while (true) { for (const a of b) { if (a) break outer; } }",
    "async function* pages() { while (true) yield 1; }",
    "let done = false; while (!done) { done = await check(); }",
    "let queue = [1]; while (queue.length) { queue.pop(); }",
    "let n = 5; do { n-- } while (n > 0)",
  ])("has no finding: %s", async (code) => {
    expect((await review(code)).findings.filter(({ rule }) => rule !== "unknown-server")).toEqual([]);
  });
});

describe("a secret in code", () => {
  const key = `AKIA${"Q".repeat(16)}`;
  it.each([
    `call({ key: "${key}" })`,
    `const key = "AKIA" + "${key.slice(4)}";`,
    `const url = \`postgres://bob:hunter22@db/x\`;`,
  ])("is a warning that does not repeat it: %s", async (code) => {
    const { allowed, findings } = await review(code);
    expect(allowed).toBe(true);
    expect(findings).toMatchObject([{ rule: "secret-in-code", severity: "warning" }]);
    expect(JSON.stringify(findings)).not.toContain("hunter22");
    expect((await createGuard({ strict: true }).review({ code, tools: [] })).allowed).toBe(false);
  });
});

describe("the kind of a secret", () => {
  const letters = (count: number): string => "aB3".repeat(count).slice(0, count);
  it.each([
    ["an AWS access key", `ASIA${"Q1".repeat(8)}`],
    ["a GitHub token", `gho_${letters(36)}`],
    ["a GitHub token", `github_pat_${letters(22)}`],
    ["a GitLab token", `glpat-${letters(20)}`],
    ["a key of a model's API", `sk-ant-${letters(40)}`],
    ["a key of a model's API", `sk-${letters(40)}`],
    ["a Slack token", `xoxb-1${letters(20)}`],
    ["a Slack webhook", `https://hooks.slack.com/services/T${letters(8)}/B${letters(8)}/${letters(20)}`],
    ["a Google API key", `AIza${letters(35)}`],
    ["a Stripe key", `rk_live_${letters(16)}`],
    ["an npm token", `npm_${letters(36)}`],
    ["a private key", `-----BEGIN RSA PRIVATE KEY-----\n${letters(16)}`],
    ["a signed token", `eyJ${letters(12)}.eyJ${letters(12)}.${letters(20)}`],
    ["a password in a URL", "redis://bob:hunter22@db.example"],
  ])("is named: %s", async (kind, secret) => {
    const { findings } = await review(`f(${JSON.stringify(`before ${secret} after`)})`);
    expect(findings).toMatchObject([{ message: `A text in the code looks like ${kind}.` }]);
  });

  it.each([
    `AKIA${"Q".repeat(15)}`,
    `sk-${"a-".repeat(20)}`,
    `npm_${letters(30)}`,
    "xoxb-1234-name",
    "redis://bob:password@db.example",
    "redis://bob:***@db.example",
    `-----BEGIN PUBLIC KEY-----\n${letters(16)}`,
  ])("is nothing that only looks like one: %s", async (text) => {
    expect((await review(`f(${JSON.stringify(text)})`)).findings).toEqual([]);
  });
});

describe("a call of a tool", () => {
  const remove: ToolDefinition = {
    server: "files",
    name: "remove",
    kind: "host",
    description: "",
    inputSchema: {},
    annotations: { destructiveHint: true },
    callStyle: "object",
    signature: "",
    module: "./servers/files/index.ts",
  };
  const programs = [
    'import { remove } from "./servers/files/index.ts"; await remove({});',
    'import { remove as r } from "/workspace/servers/files/index.ts"; await r({});',
    'import * as files from "./servers/files/index.ts"; await files["re" + "move"]({});',
    'const { remove } = await import("./servers/files/index.ts"); await remove({});',
    'import { remove } from "./servers/files/index.ts"; await Promise.all([{}].map(remove));',
  ];
  it.each(programs)("is found where the tool may not be called: %s", async (code) => {
    const isAllowed = () => "it is not for this customer";
    const { allowed, findings } = await createGuard({ isAllowed }).review({ code, tools: [remove] });
    expect(allowed).toBe(false);
    expect(findings).toMatchObject([
      { rule: "tool-not-allowed", message: expect.stringContaining("customer") },
    ]);
  });
  it.each(programs)("is found nowhere else: %s", async (code) => {
    expect(await review(code, [remove])).toEqual({ allowed: true, findings: [] });
  });
});

describe("a rule of one's own", () => {
  it("adds findings, and refuses the code where it throws or returns none", async () => {
    const finding = { rule: "no-loops", severity: "error", message: "No loops on Fridays." } as const;
    const rule: ReviewRule = ({ code }) => (code.includes("for") ? [finding] : undefined);
    for (const one of [rule, async (...args: Parameters<ReviewRule>) => rule(...args)]) {
      const own = createGuard({ rules: [one] });
      expect(await own.review({ code: "for (const a of []) ;", tools: [] })).toEqual({
        allowed: false,
        findings: [finding],
      });
      expect(await own.review({ code: "1", tools: [] })).toEqual({ allowed: true, findings: [] });
    }
    const broken = [
      () => {
        throw new Error("oops");
      },
      () => Promise.reject(new Error("oops")),
      ...["refused", true, [true], [{ rule: "x", message: "No." }]].map((answer) => () => answer),
    ] as ReviewRule[];
    for (const one of broken) {
      const { allowed, findings } = await createGuard({ rules: [one] }).review({ code: "1", tools: [] });
      expect(allowed).toBe(false);
      expect(findings).toMatchObject([{ rule: "rule-failed" }]);
    }
  });
});

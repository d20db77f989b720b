import { expect, it } from "vitest";
import { createGuard } from "../guard.ts";

it.each(["drop\\u0054able()", "'drop\\x54able'", "'drop\\u{54}able'"])(
  "finds a blocked name behind escapes: %s",
  async (code) => {
    const guard = createGuard({ blockedPatterns: ["dropTable"] });
    const { allowed, findings } = await guard.review({ code: `\n${code}`, tools: [] });
    expect(allowed).toBe(false);
    expect(findings[0]).toMatchObject({ rule: "blocked-pattern", line: 2 });
  },
);

it.each([
  'const q = "drop" +\n  " table x"; f(q)',
  'f(`drop ${"table"} x`)',
  'const verb = "drop"; f(verb + " table x")',
  String.raw`f("drop\ntable x")`,
])("finds a blocked text in parts: %s", async (code) => {
  const guard = createGuard({ blockedPatterns: [String.raw`drop\s+table`] });
  const { findings } = await guard.review({ code: `\n${code}`, tools: [] });
  expect(findings).toMatchObject([{ rule: "blocked-pattern", line: 2 }]);
});

it("does not put texts together that the program does not", async () => {
  const guard = createGuard({ blockedPatterns: [String.raw`drop\s+table`] });
  const code = 'f("dr" + "op", "ta" + "ble")';
  expect((await guard.review({ code, tools: [] })).allowed).toBe(true);
});

it("leaves escapes as they are that stand for no character, or for one that would begin a line", async () => {
  const guard = createGuard({ blockedPatterns: ["dropTable"] });
  const code = "// \\u{ffffff} \\x0a \\u{a}\ndrop\\u0054able()";
  expect((await guard.review({ code, tools: [] })).findings).toMatchObject([{ line: 2 }]);
});

it("gives many slow patterns one timeout together", async () => {
  const slow = Array.from({ length: 10 }, (_, at) => `(a+)+${at}$`);
  const guard = createGuard({ blockedPatterns: [...slow, "dropTable"] });
  const started = performance.now();
  const { allowed, findings } = await guard.review({ code: `"${"a".repeat(40)}"; dropTable();`, tools: [] });
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(allowed).toBe(false);
  const found = findings.filter(({ rule }) => rule === "blocked-pattern").map(({ message }) => message);
  expect(found[0]).toContain("took longer than 500 ms on this code");
  expect(found).toHaveLength(11);
});

import { describe, expect, it } from "vitest";
import { HARD_PROGRAMS } from "../../../packages/program/fixtures/hard-programs.ts";
import { createTypeChecker } from "./index.ts";
import { checkedText, mayLackAwait } from "./program-text.ts";

/** Those that have most of what is read here. */
const NAMES = [
  "missing awaits",
  "kept promises",
  "functions that call each other",
  "returns",
  "nested endless loops",
  "comments only",
  "words",
  "very long line",
  "deep: members",
  "deep: promise chains",
  "deep: calls after calls",
  "deep: optional chains",
  "deep: if statements",
  "deep: blocks",
  "deep: arrow functions",
  "many: async arrow functions",
  "many: promise chains",
  "many: awaits",
];
const CHARACTERS = 100_000;
/** Of processor time. The aim is a second. */
const MAX_MS = 5_000;
/** The check's own clock, and what ending it may take on a busy machine. */
const TIMEOUT_MS = 3_000;
const MAX_LATE_MS = 20_000;

/** Why a program can't be checked. */
function problemIn(code: string): string | undefined {
  try {
    checkedText(code);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("what the host reads of a hard program before its check", () => {
  it.each(NAMES)("is read in time for 100 KB: %s", (name) => {
    const code = HARD_PROGRAMS[name]?.(CHARACTERS) ?? "";
    const started = process.cpuUsage();
    expect(problemIn(code)).toBeOneOf([undefined, "the program is nested too deeply."]);
    mayLackAwait(code);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(MAX_MS);
  });

  it("knows that a chain is awaited at its end, unless it is very long", () => {
    const chain = (length: number): string => `fetch("a")${".then((a) => a)".repeat(length)}`;
    expect(mayLackAwait(`export default await ${chain(20)};`)).toBe(false);
    expect(mayLackAwait(`export default await ${chain(5_000)};`)).toBe(true);
    expect(mayLackAwait(`const a = [${chain(20)}];`)).toBe(true);
  });
});

describe("the check of a hard program", () => {
  it.each(["kept promises", "reducers in reducers", "near names", "deep: members", "many: conditionals"])(
    "ends by its clock and leaves a checker that works: %s",
    { timeout: 60_000 },
    async (name) => {
      const checker = createTypeChecker({ timeoutMs: TIMEOUT_MS });
      try {
        await checker.check({ code: "export default 1;", tools: [] });
        const started = performance.now();
        const code = HARD_PROGRAMS[name]?.(CHARACTERS) ?? "";
        const findings = await checker.check({ code, tools: [] });
        expect(performance.now() - started).toBeLessThan(TIMEOUT_MS + MAX_LATE_MS);
        expect(findings.length).toBeLessThanOrEqual(20);
        const next = await checker.check({ code: "missing_name();", tools: [] });
        expect(next).toMatchObject([{ rule: "unknown-name" }]);
      } finally {
        await checker.dispose();
      }
    },
  );

  it("tells who cancels at once", { timeout: 60_000 }, async () => {
    const checker = createTypeChecker();
    const stop = new AbortController();
    const code = HARD_PROGRAMS["deep: members"]?.(CHARACTERS) ?? "";
    const checking = checker.check({ code, tools: [], signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 100);
    await expect(checking).rejects.toThrow("enough");
    await checker.dispose();
  });
});

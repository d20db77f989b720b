import { afterAll, describe, expect, it } from "vitest";
import { HOSTILE_PROGRAMS } from "../fixtures/hostile-programs.ts";
import { createTypeChecker } from "./index.ts";

const hurried = createTypeChecker({ timeoutMs: 500, memoryMb: 256 });
afterAll(() => hurried.dispose());

describe("createTypeChecker", () => {
  it.each(Object.entries(HOSTILE_PROGRAMS))("survives %s", async (name, code) => {
    const findings = await hurried.check({ code, tools: [] });
    const rules = findings.map(({ rule }) => rule);
    expect(["not-type-checked", "unknown-name", "unknown-member", undefined]).toContain(rules[0]);
    // The compiler of the next check may have to start, which takes longer than a check on a busy machine.
    await hurried.prepare?.();
    expect(await hurried.check({ code: `missing; // ${name}`, tools: [] })).toMatchObject([
      { rule: "unknown-name", line: 1, column: 1 },
    ]);
  });
});

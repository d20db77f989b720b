import { describe, expect, it } from "vitest";
import { learnSkill } from "./learn-skill.ts";

const CODE = `import { add } from "./servers/calculator/index.ts";
const sum = await add({ a: 5, b: 3 });
export default { sum };
`;

describe("learnSkill", () => {
  it("makes a function of a program, and a test of what it returned", () => {
    expect(learnSkill({ description: "Add 5 and 3!", code: CODE, result: { sum: 8 } })).toEqual({
      name: "add-5-and-3",
      description: "Add 5 and 3!",
      code: `import { add } from "./servers/calculator/index.ts";

/** Add 5 and 3! */
export async function add_5_and_3(): Promise<unknown> {
  const sum = await add({ a: 5, b: 3 });
  return ({ sum });
}
`,
      test: expect.stringContaining('import { add_5_and_3 } from "./skills/add-5-and-3/index.ts";'),
    });
  });

  it.each([
    ["const a = 1;\nreturn a;", "return a;"],
    ["const a = 1;\na + 1;", "return (a + 1);"],
    ["if (1 < 2) return 1;\nreturn 2;", "return 2;"],
  ])("takes the value of %j as the program gives it", (code, last) => {
    expect(learnSkill({ description: "", code, result: 1 })?.code).toContain(`  ${last}\n}`);
  });

  it.each<[string, string, unknown]>([
    ["returned nothing", CODE, null],
    ["prints only", "console.log(1);\nconst a = 1;", 1],
    ["can't be parsed", "export default (", 1],
    ["exports more", "export const a = 1;\nexport default a;", 1],
    ["holds a value that was kept", 'export default "[[EMAIL:pu3v5bwvaioc2hfg]]";', "x"],
    ["holds one as an address", 'export default "user.pu3v5bwvaioc2hfg@redacted.invalid";', "x"],
    ["returned a value that was kept", CODE, { from: "[[EMAIL:pu3v5bwvaioc2hfg]]" }],
    ["returned too much", CODE, "x".repeat(30_000)],
  ])("learns nothing of a run that %s", (_what, code, result) => {
    expect(learnSkill({ description: "t", code, result: result as never })).toBeUndefined();
  });

  it("names a run without words by its tools", () => {
    expect(learnSkill({ description: "", code: CODE, result: 1 })?.name).toBe("add");
    expect(learnSkill({ description: "…", code: "return 1;", result: 1 })?.name).toBe("run");
    expect(learnSkill({ description: "5 plus 3", code: "return 8;", result: 8 })?.name).toBe("run-5-plus-3");
  });
});

import { describe, expect, it } from "vitest";
import { runTitle } from "./short-texts.ts";

describe("runTitle", () => {
  it.each([
    ["return 5 + 3;", "return 5 + 3;"],
    [
      'import { a } from "./servers/a/index.ts";\n\nconst x = await a({});\nreturn x;',
      "const x = await a({});",
    ],
    [
      'import {\n  a,\n  type B,\n} from "./a.ts"; import "./b.ts"\n// Sums.\n/* All\n of it. */\nlet sum = 0;',
      "let sum = 0;",
    ],
    ['import data from "./a.json" with { type: "json" };\nexport default data;', "export default data;"],
    ['const { a } = await import("./a.ts");', 'const { a } = await import("./a.ts");'],
    ['import { a } from "./a.ts";', 'import { a } from "./a.ts";'],
    ["// nothing", "// nothing"],
    ["", ""],
  ])("of the code %j is %j", (input, title) => {
    expect(runTitle({ kind: "code", input })).toBe(title);
  });

  it("of a task is the task in one line, cut where it is long", () => {
    expect(runTitle({ kind: "task", input: ' import "a.csv"\n and sum ' })).toBe('import "a.csv" and sum');
    expect(runTitle({ kind: "task", input: "a".repeat(300) })).toHaveLength(200);
  });
});

import { describe, expect, it } from "vitest";
import { exportLastValue } from "./export-last-value.ts";

const added = (code: string): string[] => exportLastValue(code).added;

describe("exportLastValue", () => {
  it("exports the variable that is declared last, and keeps the lines", () => {
    const code = "const rows = [1, 2];\nconst sum = rows.map((n) => { return n * 2; });";
    expect(exportLastValue(code)).toEqual({
      code: `${code}\nexport default sum;\n`,
      added: ["export default sum;"],
    });
    expect(added("let a = 1, b = 2;\nfunction help() { return 1; }\ninterface X { a: number }")).toEqual([
      "export default b;",
    ]);
  });

  it("exports what a loop fills, and all names of a pattern, but no function", () => {
    expect(added("const totals = {};\nfor (const x of [1]) totals[x] = 1;\nconst log = () => 1;")).toEqual([
      "export default totals;",
    ]);
    expect(added("let best;\nif (Math.random() > 2) { best = 1; }")).toEqual(["export default best;"]);
    expect(added("const [a, { b: c, d = e }, ...f] = g();")).toEqual(["export default { a, c, d, f };"]);
    expect(added("const { a } = { a: 1 };")).toEqual(["export default a;"]);
    expect(added("const a = main();\nexport default function main() {}")).toEqual(["return a;"]);
  });

  it.each([
    "export default 1;\nconst x = 2;",
    "const x = 2;\nreturn x;",
    "const x = 2;\nif (x > 1) { return x; }",
    "const x = 2;\nx;",
    "const x = 2;\nmodule.exports = x;",
    "console.log(1);\nconst x = 2;",
    "const f = () => 1;",
    "async function main() { return 1; }",
    "const f = async function () { return 1; };",
    "const x = ;",
    "main();\nasync function main() {}",
    "",
  ])("leaves %j alone", (code) => {
    expect(exportLastValue(code)).toEqual({ code, added: [] });
  });
});

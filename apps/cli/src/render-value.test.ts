import type { JsonValue } from "@cem/core";
import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { renderValue } from "./render/value.ts";
import { columnsOf } from "./render/text.ts";

const render = (value: JsonValue, width = 80): string =>
  renderValue(value, { colors: createColors(false), width }).join("\n");

describe("renderValue", () => {
  it("aligns the keys of an object and keeps small things on one line", () => {
    expect(render({ sum: 8, weather: { place: "Oslo", degrees: -3.5 }, list: [1, 2, 3], none: [] })).toBe(
      ["sum        8", "weather    place: Oslo, degrees: -3.5", "list       1, 2, 3", "none       []"].join(
        "\n",
      ),
    );
  });

  it("shows numbers without the noise of floating point, wherever they are", () => {
    const noisy = 3 * 41.65;
    expect(render(noisy)).toBe("124.95");
    expect(render([0.1 + 0.2, 1 / 3])).toBe("0.3, 0.3333333333333333");
    expect(render({ sum: noisy, text: String(noisy) })).toBe(
      ["sum        124.95", `text       ${noisy}`].join("\n"),
    );
    expect(render([{ price: noisy, parts: [noisy] }])).toBe([" price  parts", "124.95  [124.95]"].join("\n"));
    expect(render({ a: { b: { c: { d: { e: { f: noisy } } } } } })).toContain('{"f":124.95}');
    expect(render([1e21, -0, 2 ** 53 + 2])).toBe("1e+21, 0, 9007199254740994");
  });

  it("puts what does not fit below its key", () => {
    expect(render({ note: "one\ntwo", weather: { place: "San Francisco", sky: "partly cloudy" } }, 40)).toBe(
      ["note", "  one", "  two", "weather", "  place  San Francisco", "  sky    partly cloudy"].join("\n"),
    );
  });

  it("shows objects as a table, the first 20 rows of it", () => {
    const rows = Array.from({ length: 50 }, (_, index) => ({ id: index + 1, name: `user ${index + 1}` }));
    const lines = render(rows).split("\n");
    expect(lines.slice(0, 3)).toEqual(["id  name", " 1  user 1", " 2  user 2"]);
    expect(lines).toHaveLength(22);
    expect(lines.at(-1)).toBe("… 30 more rows");
  });

  it("never makes a table wider than it may be", () => {
    const row = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`column_${index}`, "某些很长的文字 ".repeat(5)]),
    );
    const lines = render([row, row], 60).split("\n");
    expect(lines.at(-1)).toMatch(/^… \d+ more columns$/u);
    expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(60);
  });

  it("cuts long texts and says by how much", () => {
    expect(render("x".repeat(2_500)).split("\n").at(-1)).toBe("… 500 more characters (--json shows all)");
    expect(render("line\n".repeat(100)).split("\n").at(-1)).toMatch(/^… \d+ more characters/u);
  });

  it("stays small for anything deep or wide", () => {
    let deep: JsonValue = 1;
    for (let depth = 0; depth < 500; depth += 1) deep = { deep: [deep, depth] };
    expect(render(deep).split("\n").length).toBeLessThan(50);
    const wide = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`key${index}`, [[index], [index]]]),
    );
    expect(render(wide).split("\n").length).toBeLessThanOrEqual(201);
  });
});

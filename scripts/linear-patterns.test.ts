import { describe, expect, it } from "vitest";
import { collectPatterns } from "./linear/collect.ts";
import { findNotLinear, unchecked } from "./linear/verdicts.ts";

describe("the regular expressions of the sources", () => {
  const patterns = collectPatterns();

  it("are found", () => {
    expect(patterns.length).toBeGreaterThan(500);
  });

  it("take linear time: new ones are checked here, all of them by scripts/linear-patterns.ts", async () => {
    const found = await findNotLinear(unchecked(patterns));
    expect(found.map(({ place, source, why }) => `${place} /${source}/ ${why}`)).toEqual([]);
  });

  it("would be found out", async () => {
    const place = "here:1";
    const bad = [
      { source: "(a+)+$", flags: "", place },
      { source: String.raw`\.+$`, flags: "u", place },
    ];
    const good = { source: String.raw`(?<!\.)\.+$`, flags: "u", place };
    const found = await findNotLinear([...bad, good]);
    expect(found.map(({ source }) => source).toSorted()).toEqual(bad.map(({ source }) => source).toSorted());
  });
});

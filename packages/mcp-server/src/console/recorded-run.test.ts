import { expect, it } from "vitest";
import { countRedactions } from "./recorded-run.ts";

it("countRedactions counts a value once, by type", () => {
  const one = "[[EMAIL:aaaaaaaaaaaaaaaa]]";
  const data = { text: `${one} and ${one}`, more: ["[[IP:bbbbbbbbbbbbbbbb]]", "[[no token]]"] };
  expect(countRedactions(data)).toEqual([
    { type: "EMAIL", values: 1 },
    { type: "IP", values: 1 },
  ]);
  expect(countRedactions(undefined)).toEqual([]);
});

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { createGuard } from "./guard.ts";

const text = readFileSync(path.join(import.meta.dirname, "../test/honest.txt"), "utf8");
const programs = text
  .split(/^\/\/# /m)
  .slice(1)
  .map((part) => ({ title: part.slice(0, part.indexOf("\n")), code: part.slice(part.indexOf("\n") + 1) }));

it("there are many honest programs", () => {
  expect(programs.length).toBeGreaterThanOrEqual(50);
});

it.each(programs)("lets an honest program through without a finding: $title", async ({ code }) => {
  expect(await createGuard({ strict: true }).review({ code, tools: [] })).toEqual({
    allowed: true,
    findings: [],
  });
});

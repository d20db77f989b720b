import { readFileSync } from "node:fs";
import path from "node:path";
import { ERRORS } from "@cem/core/errors";
import { describe, expect, it } from "vitest";
import { referencePages } from "./scripts/reference.ts";

const written = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, "reference", name), "utf8");

describe("docs/reference", () => {
  it("is what the code says; `pnpm generate` in docs writes it", async () => {
    for (const [name, text] of Object.entries(await referencePages())) expect(written(name)).toBe(text);
  });

  it("has an entry for each error code", () => {
    const headings = [...written("error-codes.md").matchAll(/^## (\w+)$/gmu)].map(([, code]) => code);
    expect(headings).toEqual(Object.keys(ERRORS).toSorted());
  });
});

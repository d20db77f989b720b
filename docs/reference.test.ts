import { readFileSync } from "node:fs";
import path from "node:path";
import { ERROR_CODES } from "@cem/core";
import { describe, expect, it } from "vitest";
import { referencePages } from "./scripts/reference.ts";
import { TROUBLES } from "./scripts/troubleshooting.ts";

const written = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, "reference", name), "utf8");

describe("docs/reference", () => {
  it("is what the code says; `pnpm generate` in docs writes it", async () => {
    for (const [name, text] of Object.entries(await referencePages())) expect(written(name)).toBe(text);
  });

  it("has an entry for each error code, with its cause and the way out", () => {
    const headings = [...written("error-codes.md").matchAll(/^## (\w+)$/gmu)].map(([, code]) => code);
    expect(headings).toEqual(Object.keys(ERROR_CODES).toSorted());
    expect(Object.keys(TROUBLES).toSorted()).toEqual(headings);
    for (const [code, { cause, wayOut }] of Object.entries(TROUBLES)) {
      expect([code, cause, wayOut]).toEqual([
        code,
        expect.stringMatching(/^\S.*[.?]$/u),
        expect.stringMatching(/^\S.*[.?]$/u),
      ]);
    }
  });
});

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

/** The most types that the main entry exports by name. What one package needs alone is derived from a port there. */
const MAX_TYPES = 110;

it("exports so few types that a stranger can take them in", () => {
  const text = readFileSync(path.join(import.meta.dirname, "index.ts"), "utf8");
  const lists = [...text.matchAll(/^export type \{([^}]*)\}/gmu)];
  const names = lists.flatMap(([, list = ""]) => list.split(",").filter((name) => name.trim() !== ""));
  expect(names.length).toBeGreaterThan(50);
  expect(names.length).toBeLessThanOrEqual(MAX_TYPES);
});

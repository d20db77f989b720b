import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

/** The most types that the main entry exports by name. What one package needs alone is derived from a port there. */
const MAX_TYPES = 110;

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, file), "utf8");

it("exports so few types that a stranger can take them in", () => {
  const text = read("index.ts");
  const lists = [...text.matchAll(/^export type \{([^}]*)\}/gmu)];
  const listed = lists.flatMap(([, list = ""]) => list.split(",").filter((name) => name.trim() !== ""));
  const wholes = [...text.matchAll(/^export (?:type )?\* from "([^"]+)"/gmu)];
  const declared = wholes.flatMap(
    ([, file = ""]) => read(file).match(/^export (?:interface|type) \w+/gmu) ?? [],
  );
  expect(declared.length).toBeGreaterThan(20);
  expect(listed.length + declared.length).toBeGreaterThan(50);
  expect(listed.length + declared.length).toBeLessThanOrEqual(MAX_TYPES);
});

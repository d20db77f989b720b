import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { proseOf, root } from "./scripts/blocks.ts";

/** The rows of the table: what a concept is, and the files that are said to show it. */
const CONCEPTS = proseOf("docs/explanation/code-execution-with-mcp.md")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (?:concept|-)/u.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, concept = "", , shownBy = ""]) => ({
    concept,
    files: [...shownBy.matchAll(/`([^`]+)`/gu)].map(([, file = ""]) => file),
  }));

describe("the concepts of the article", () => {
  it("are ten", () => {
    expect(CONCEPTS).toHaveLength(10);
  });

  it.each(CONCEPTS)("$concept: is shown by tests that there are", ({ files }) => {
    const tests = files.filter((file) => file.endsWith(".test.ts"));
    expect(tests).not.toEqual([]);
    const texts = tests.map((file) => readFileSync(path.join(root, file), "utf8"));
    expect(texts.every((text) => /expect\(|[cC]ontract/u.test(text))).toBe(true);
    // An example that is named is run by the test beside it.
    for (const file of files.filter((one) => !tests.includes(one))) {
      expect(texts.join("\n")).toContain(`"${path.basename(file)}"`);
    }
  });
});

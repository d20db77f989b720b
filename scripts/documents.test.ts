import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md"];
const FOLDERS = /^(?:apps|docs|examples|packages|scripts)\//;

/** The repository's files that a document names: in code spans, and as targets of links. */
function namedFiles(document: string): string[] {
  const text = readFileSync(path.join(root, document), "utf8");
  const spans = [...text.matchAll(/`([^`\s]+)`/g)].map(([, name = ""]) => name);
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target = ""]) =>
    path.join(path.dirname(document), target),
  );
  const written = spans.filter((name) => FOLDERS.test(name) && !/[<>*…{}]/.test(name));
  return [...new Set([...written, ...links])];
}

describe.each(DOCUMENTS)("%s", (document) => {
  it("names only files that are there", () => {
    expect(namedFiles(document).filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  });
});

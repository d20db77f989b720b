import { globSync, readFileSync } from "node:fs";
import path from "node:path";

/** The repository's folder. */
export const root: string = path.resolve(import.meta.dirname, "../..");

/** Every page that a reader of the repository or of a package sees. */
export const DOCUMENTS: readonly string[] = globSync(
  ["*.md", "docs/**/*.md", "{apps,packages}/*/README.md", "examples/**/*.md"],
  { cwd: root, exclude: (name) => name.includes("node_modules") || name.endsWith(".vitepress") },
)
  .filter((name) => !name.split("/").includes(".cem"))
  .toSorted();

/** A fenced block of a page. */
export interface Block {
  /** The page, from the repository's folder. */
  document: string;
  /** The line of the fence. */
  line: number;
  language: string;
  code: string;
}

const FENCE = /^( *)```(\w*)[^\n]*\n(.*?)^\1```$/gmsu;

export function blocksOf(document: string): Block[] {
  const text = readFileSync(path.join(root, document), "utf8");
  return [...text.matchAll(FENCE)].map(({ index, 1: indent = "", 2: language = "", 3: code = "" }) => ({
    document,
    line: text.slice(0, index).split("\n").length,
    language,
    code: indent === "" ? code : code.replaceAll(new RegExp(`^${indent}`, "gmu"), ""),
  }));
}

/** The file that a block of TypeScript names in its first line, else one by its number. */
export function fileNameOf({ code, line }: Block): string {
  const [, name = `line-${line}.ts`] = /^\/\/ (\S+\.tsx?)\n/u.exec(code) ?? [];
  return name;
}

/** The text of a page without its blocks. */
export function proseOf(document: string): string {
  return readFileSync(path.join(root, document), "utf8").replaceAll(FENCE, "");
}

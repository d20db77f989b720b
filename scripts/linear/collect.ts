import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.resolve(import.meta.dirname, "../..");

/** A regular expression of the sources. */
export interface SourcePattern {
  source: string;
  flags: string;
  /** `packages/core/src/text/words.ts:4`, the first of its places. */
  place: string;
}

/** Every regular expression literal in the sources of packages and apps, once. Tests are left out. */
export function collectPatterns(): SourcePattern[] {
  const found = new Map<string, SourcePattern>();
  for (const file of sourceFiles()) {
    const text = readFileSync(file, "utf8");
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node) && !found.has(node.text)) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
        const end = node.text.lastIndexOf("/");
        found.set(node.text, {
          source: node.text.slice(1, end),
          flags: node.text.slice(end + 1),
          place: `${path.relative(root, file)}:${line + 1}`,
        });
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return [...found.values()];
}

function sourceFiles(): string[] {
  return ["packages", "apps"].flatMap((group) =>
    readdirSync(path.join(root, group)).flatMap((name) => {
      const folder = path.join(root, group, name, "src");
      return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => /(?<!\.test|\.d)\.ts$/u.test(file))
        .map((file) => path.join(folder, file));
    }),
  );
}

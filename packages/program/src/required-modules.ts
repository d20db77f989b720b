import { isBuiltin } from "node:module";
import { boundNames } from "./add-imports.ts";
import { parseProgram } from "./parse-program.ts";
import { SourceEdits } from "./source-edits.ts";
import { runtimeNodes, type NodeVisit } from "./syntax-tree.ts";

const NAME = "require";

/**
 * Reads `require("path")` as CommonJS means it: the module is imported, and its name stands in place of the call. So does
 * `true` for `require.main === module`.
 *
 * @returns the code, with its lines as they were. Code with a syntax error, and code that has its own `require`, is left
 *   alone.
 */
export function importRequired(code: string): string {
  if (!code.includes(NAME)) return code;
  const parsed = parseProgram(code);
  if (!parsed.ok) return code;
  const root = parsed.program.ast.program;
  if (boundNames(root).has(NAME)) return code;
  const edits = new SourceEdits(code);
  const names = new Map<string, string>();
  for (const { node } of runtimeNodes(root)) {
    if (isMainTest(node)) edits.overwrite(node.start ?? 0, node.end ?? 0, "true");
    const specifier = requiredBy(node);
    if (specifier === undefined) continue;
    const name = names.get(specifier) ?? `$required${names.size}`;
    names.set(specifier, name);
    edits.overwrite(node.start ?? 0, node.end ?? 0, name);
  }
  // A hashbang is valid only at the start of a file.
  const start = /^#!.*(?:\r?\n|$)/.exec(code)?.[0].length ?? 0;
  if (names.size > 0) edits.insert(start, `${[...names].map(importOf).join(" ")} `);
  return edits.toString();
}

function importOf([specifier, name]: [string, string]): string {
  const from = JSON.stringify(specifier);
  if (specifier.endsWith(".json")) return `import ${name} from ${from} with { type: "json" };`;
  return isBuiltin(specifier) ? `import ${name} from ${from};` : `import * as ${name} from ${from};`;
}

/** The module of `require("module")`. */
function requiredBy(node: NodeVisit["node"]): string | undefined {
  if (node.type !== "CallExpression" || !isNamed(node.callee, NAME)) return undefined;
  const [specifier] = node.arguments;
  return specifier?.type === "StringLiteral" ? specifier.value : undefined;
}

function isMainTest(node: NodeVisit["node"]): boolean {
  if (node.type !== "BinaryExpression" || !node.operator.startsWith("==")) return false;
  const { left, right } = node;
  return (
    left.type === "MemberExpression" &&
    isNamed(left.object, NAME) &&
    isNamed(left.property, "main") &&
    isNamed(right, "module")
  );
}

function isNamed(node: NodeVisit["node"], name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

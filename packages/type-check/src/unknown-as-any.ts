import ts from "typescript";

const UNKNOWN = "unknown";
/** As long as the word it stands for, so that every place stays where it was. */
const ANY = "any".padEnd(UNKNOWN.length);

/**
 * Reads `unknown` as `any`: what nobody knows must not stop code that may well be right. Only types are changed, never
 * a text or a comment.
 */
export function unknownAsAny(code: string): string {
  if (!code.includes(UNKNOWN)) return code;
  const source = ts.createSourceFile("module.ts", code, ts.ScriptTarget.ESNext);
  const parts: string[] = [];
  let end = 0;
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.UnknownKeyword) {
      parts.push(code.slice(end, node.end - UNKNOWN.length), ANY);
      end = node.end;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  parts.push(code.slice(end));
  return parts.join("");
}

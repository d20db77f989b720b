import ts from "typescript";

const UNKNOWN = "unknown";
/** Padded to the same length, so that positions do not change. */
const ANY = "any".padEnd(UNKNOWN.length);

/** Replaces the type `unknown` by `any`, so that a result of unknown type does not stop code that may be right. */
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

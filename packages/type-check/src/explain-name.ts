import { nearest } from "@cem/text";
import ts from "typescript";
import type { Explained } from "./explain.ts";
import { declaredBy, suggestion } from "./type-facts.ts";

/** A name that nothing declares. */
export function explainName(node: ts.Node, checker: ts.TypeChecker): Explained | undefined {
  if (!ts.isIdentifier(node) || ts.isPartOfTypeNode(node) || ts.isTypeOfExpression(node.parent))
    return undefined;
  if (ts.isExpressionWithTypeArguments(node.parent) && ts.isPartOfTypeNode(node.parent)) return undefined;
  // A program may ask for what this runtime may not have: `typeof Bun !== "undefined"`.
  if (isAskedFor(node.text, node.getSourceFile())) return undefined;
  const own = checker
    .getSymbolsInScope(node, ts.SymbolFlags.Value)
    .filter((symbol) => symbol.declarations?.some((one) => declaredBy(one) === "program") ?? false)
    .map(({ name }) => name);
  const near = suggestion(nearest(node.text, own));
  return { rule: "unknown-name", message: `${node.text} is not defined here.${near}` };
}

function isAskedFor(name: string, source: ts.SourceFile): boolean {
  let asked = false;
  const visit = (node: ts.Node): void => {
    if (ts.isTypeOfExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === name)
      asked = true;
    if (!asked) ts.forEachChild(node, visit);
  };
  visit(source);
  return asked;
}

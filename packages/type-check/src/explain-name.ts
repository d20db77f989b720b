import { nearest } from "@cem/text";
import ts from "typescript";
import { declaredBy, suggestion } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";

/** Explains a name that nothing declares. */
export function explainName(node: ts.Node, checker: ts.TypeChecker): Explanation | undefined {
  if (!ts.isIdentifier(node) || ts.isPartOfTypeNode(node) || ts.isTypeOfExpression(node.parent))
    return undefined;
  if (ts.isExpressionWithTypeArguments(node.parent) && ts.isPartOfTypeNode(node.parent)) return undefined;
  // The program tests whether the name exists: `typeof Bun !== "undefined"`.
  if (isFeatureTested(node.text, node.getSourceFile())) return undefined;
  const own = checker
    .getSymbolsInScope(node, ts.SymbolFlags.Value)
    .filter((symbol) => symbol.declarations?.some((one) => declaredBy(one) === "program") ?? false)
    .map(({ name }) => name);
  const near = suggestion(nearest(node.text, own));
  return { rule: "unknown-name", message: `${node.text} is not defined here.${near}` };
}

function isFeatureTested(name: string, source: ts.SourceFile): boolean {
  let tested = false;
  const visit = (node: ts.Node): void => {
    if (ts.isTypeOfExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === name)
      tested = true;
    if (!tested) ts.forEachChild(node, visit);
  };
  visit(source);
  return tested;
}

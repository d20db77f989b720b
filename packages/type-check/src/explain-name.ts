import { factsOf } from "./program-facts.ts";
import { nearNames, suggestion } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";
import {
  type Checker,
  isClassDeclaration,
  isClassExpression,
  isExpressionWithTypeArguments,
  isHeritageClause,
  isIdentifier,
  isPropertyAccessExpression,
  isQualifiedName,
  isTypeNode,
  isTypeOfExpression,
  isTypeQueryNode,
  type Node,
  SymbolFlags,
  SyntaxKind,
} from "./typescript.ts";

const MAX_SUGGESTED = 3;
/** How many near names are looked for, as some of them may not be known where the wrong one stands. */
const MAX_NEAR = 12;

/** Explains a name that nothing declares. */
export async function explainName(node: Node, checker: Checker): Promise<Explanation | undefined> {
  if (!isIdentifier(node) || isTypeOfExpression(node.parent) || isInType(node)) return undefined;
  const { declaredNames, testedNames } = factsOf(node.getSourceFile());
  // The program tests whether the name exists: `typeof Bun !== "undefined"`.
  if (testedNames.has(node.text)) return undefined;
  const near: string[] = [];
  for (const name of nearNames(node.text, declaredNames, MAX_NEAR)) {
    if (near.length === MAX_SUGGESTED) break;
    if (await isKnownAt(node, name, checker)) near.push(name);
  }
  return { rule: "unknown-name", message: `${node.text} is not defined here.${suggestion(near)}` };
}

/** Whether a name has a value where a node stands. What is imported in vain has none. */
async function isKnownAt(node: Node, name: string, checker: Checker): Promise<boolean> {
  const symbol = await checker.resolveName(name, SymbolFlags.Value, node);
  if (symbol === undefined || (symbol.flags & SymbolFlags.Alias) === 0) return symbol !== undefined;
  return !(await checker.isUnknownSymbol(await checker.getAliasedSymbol(symbol)));
}

/** Whether a name belongs to a type, which is removed at run time. */
function isInType(name: Node): boolean {
  let { parent } = name;
  while (isQualifiedName(parent) || isPropertyAccessExpression(parent)) parent = parent.parent;
  if (isExpressionWithTypeArguments(parent)) return !isExtendedByClass(parent);
  return isTypeNode(parent) && !isTypeQueryNode(parent);
}

/** Whether a class is derived from it: that is a value. */
function isExtendedByClass({ parent }: Node): boolean {
  if (!isHeritageClause(parent) || parent.token !== SyntaxKind.ExtendsKeyword) return false;
  return isClassDeclaration(parent.parent) || isClassExpression(parent.parent);
}

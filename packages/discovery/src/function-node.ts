import type {
  ArrowFunctionExpression,
  FunctionDeclaration,
  FunctionExpression,
  Node,
  TSDeclareFunction,
  TSType,
} from "@babel/types";

/** A node that may be a tool's function. */
export type FunctionNode =
  | ArrowFunctionExpression
  | FunctionDeclaration
  | FunctionExpression
  | TSDeclareFunction;

export function isFunction(node: Node): node is FunctionNode {
  return (
    node.type === "FunctionDeclaration" ||
    node.type === "TSDeclareFunction" ||
    node.type === "ArrowFunctionExpression" ||
    node.type === "FunctionExpression"
  );
}

/** The function an expression evaluates to, through `as`, `satisfies` and parentheses. */
export function exportedFunction(node: Node): FunctionNode | undefined {
  if (isFunction(node)) return node;
  if (
    node.type === "TSAsExpression" ||
    node.type === "TSSatisfiesExpression" ||
    node.type === "ParenthesizedExpression"
  ) {
    return exportedFunction(node.expression);
  }
  return undefined;
}

/** The type in a type annotation. */
export function annotatedType(annotation: Node | null | undefined): TSType | undefined {
  return annotation?.type === "TSTypeAnnotation" ? annotation.typeAnnotation : undefined;
}

import { createTurns } from "@cem/core";
import * as ts from "typescript/unstable/ast";
import { TypeFlags, type Checker, type Type } from "typescript/unstable/async";
import { isPromise } from "./type-facts.ts";

/** Maximum number of variables to follow. */
const MAX_STEPS = 4;

export type HiddenPromises = ReturnType<typeof createHiddenPromises>;

/** Finds promises behind the type `any`: casts, and the content of an untyped Map or record. */
export function createHiddenPromises(source: ts.SourceFile, checker: Checker) {
  let stores: Map<string, ts.Expression[]> | undefined;
  /** The promises in variables. Unknown for a variable that is still being inspected, and so refers to itself. */
  const held = new Map<string, Type | undefined>();
  // Sequential, so that each variable is inspected once.
  const inTurn = createTurns();

  const behind = async (expression: ts.Expression, steps = 0): Promise<Type | undefined> => {
    const value = withoutCasts(expression);
    const type = await checker.getTypeAtLocation(value);
    if (type !== undefined && (type.flags & TypeFlags.Any) === 0) {
      return (await isPromise(type)) ? type : undefined;
    }
    if (steps === MAX_STEPS) return undefined;
    const container = containerOf(value);
    if (container !== undefined) return stored(container, steps);
    const initial = ts.isIdentifier(value) ? await constantOf(value, checker) : undefined;
    return initial === undefined ? undefined : behind(initial, steps + 1);
  };

  const stored = async (name: string, steps: number): Promise<Type | undefined> => {
    if (held.has(name)) return held.get(name);
    held.set(name, undefined);
    let first: Type | undefined;
    for (const value of (stores ??= storesOf(source)).get(name) ?? []) {
      const type = await behind(value, steps + 1);
      if (type === undefined) return undefined;
      first ??= type;
    }
    held.set(name, first);
    return first;
  };

  return {
    /** The type of the promise, if an expression of type `any` certainly evaluates to one. */
    behind: (expression: ts.Expression) => inTurn(() => behind(expression)),
    /** Whether the program stores only promises in a variable. */
    fill: (expression: ts.Expression) =>
      inTurn(async () => ts.isIdentifier(expression) && (await stored(expression.text, 0)) !== undefined),
  };
}

export function withoutCasts(expression: ts.Expression): ts.Expression {
  let value = expression;
  while (ts.isAsExpression(value) || ts.isParenthesizedExpression(value) || ts.isNonNullExpression(value)) {
    value = value.expression;
  }
  return value;
}

/** The variable from which an expression reads a value: `cache` of `cache.get(key)` and of `cache[key]`. */
function containerOf(value: ts.Expression): string | undefined {
  if (ts.isElementAccessExpression(value)) return nameOf(value.expression);
  if (!ts.isCallExpression(value) || !ts.isPropertyAccessExpression(value.expression)) return undefined;
  const { expression, name } = value.expression;
  return name.text === "get" ? nameOf(expression) : undefined;
}

function nameOf(expression: ts.Expression): string | undefined {
  return ts.isIdentifier(expression) ? expression.text : undefined;
}

/** The values that a program stores in its variables, by variable name: `cache.set(key, value)`, `cache[key] = value`. */
function storesOf(source: ts.SourceFile): Map<string, ts.Expression[]> {
  const stores = new Map<string, ts.Expression[]>();
  const add = (name: string | undefined, value: ts.Expression | undefined): void => {
    if (name === undefined || value === undefined) return;
    const values = stores.get(name) ?? [];
    stores.set(name, values);
    values.push(value);
  };
  const pending: ts.Node[] = [source];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
      if (ts.isElementAccessExpression(node.left)) add(nameOf(node.left.expression), node.right);
    } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression;
      if (name.text === "set") add(nameOf(expression), node.arguments[1]);
    }
    node.forEachChild((child) => void pending.push(child));
  }
  return stores;
}

export async function constantOf(name: ts.Expression, checker: Checker): Promise<ts.Expression | undefined> {
  const symbol = await checker.getSymbolAtLocation(name);
  const declaration = await symbol?.valueDeclaration?.resolve();
  if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return undefined;
  return (declaration.parent.flags & ts.NodeFlags.Const) === 0 ? undefined : declaration.initializer;
}

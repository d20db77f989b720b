import * as ts from "typescript/unstable/ast";
import { toolModuleName } from "./type-facts.ts";

/**
 * How a program uses a value. `value`: as one that can't be a promise. `printed`: with its content. `condition`: as
 * true or false. `awaited`. `result`: of the program. `predicate`: a callback whose result is used at once. `reducer`:
 * a callback that gets its own result again. `each`: a callback whose result nobody awaits. `items`: a list whose items
 * are used. `member`: an object whose member is read. `cast`: a value cast to another type.
 */
export type Use =
  | "value"
  | "printed"
  | "condition"
  | "awaited"
  | "result"
  | "predicate"
  | "reducer"
  | "each"
  | "items"
  | "member"
  | "cast";

/** An expression that must not be a promise. */
export interface PromiseUse {
  use: Use;
  expression: ts.Expression;
}

const OPERATORS = new Set("+ - * ** / % < <= > >= == === != !== in += -= *= /=".split(" "));
export const IDENTITY = new Set(["===", "!==", "==", "!="]);
/** Operators that replace a missing value. */
const FALLBACK = new Set(["||", "??"]);
/** Built-in functions that read their arguments deeply at once. */
const PRINTS =
  /^(?:JSON\.stringify|String|structuredClone|console\.(?:log|info|warn|error|debug|table|dir))$/u;
/** Built-in functions that read only the arguments themselves. */
const READS =
  /^(?:Number|Boolean|BigInt|parseInt|parseFloat|isNaN|Date|Set|Map|\w+Array|Array\.(?:from|isArray)|encodeURIComponent|Number\.\w+|Math\.\w+|Object\.(?:keys|values|entries|assign))$/u;
/** List methods that use their callback's result at once. */
const PREDICATES = new Set(
  "every filter find findIndex findLast findLastIndex some sort toSorted".split(" "),
);

/** The member read of a called name, with the space before it. */
const MAX_NAME_CHARACTERS = 200;

const PROMISE_METHODS = new Set(["catch", "finally", "then"]);

export function promiseUses(source: ts.SourceFile): PromiseUse[] {
  const found: PromiseUse[] = [];
  const tools = importedTools(source);
  const pending: ts.Node[] = [source];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    found.push(...usesIn(node, tools));
    node.forEachChild((child) => void pending.push(child));
  }
  return found.toSorted((one, other) => one.expression.pos - other.expression.pos);
}

function usesIn(node: ts.Node, tools: ReadonlySet<string>): PromiseUse[] {
  const as = (use: Use, ...expressions: readonly ts.Expression[]): PromiseUse[] =>
    expressions.map((expression) => ({ use, expression }));
  if (ts.isAsExpression(node)) return ts.isAsExpression(node.parent) ? [] : as("cast", node);
  if (ts.isPropertyAccessExpression(node))
    return PROMISE_METHODS.has(node.name.text) ? [] : as("member", node.expression);
  if (ts.isTemplateSpan(node)) return as("printed", node.expression);
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText();
    // An existing promise may be stored for later.
    const isTested = FALLBACK.has(operator) && ts.isCallExpression(node.left);
    if (isTested || operator === "&&") return as("condition", node.left);
    if (!OPERATORS.has(operator) || isNothing(node.left) || isNothing(node.right)) return [];
    // It asks whether the same promise comes twice.
    if (IDENTITY.has(operator) && node.left.getText() === node.right.getText()) return [];
    return as("value", node.left, node.right);
  }
  if (ts.isPrefixUnaryExpression(node)) {
    return as(node.operator === ts.SyntaxKind.ExclamationToken ? "condition" : "value", node.operand);
  }
  if (ts.isElementAccessExpression(node) || ts.isSpreadElement(node) || ts.isSpreadAssignment(node)) {
    return as("value", node.expression);
  }
  if (ts.isForOfStatement(node)) return node.awaitModifier === undefined ? as("value", node.expression) : [];
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) {
    return as("condition", node.expression);
  }
  if (ts.isSwitchStatement(node)) return as("value", node.expression);
  if (ts.isConditionalExpression(node)) return as("condition", node.condition);
  if (ts.isAwaitExpression(node)) return as("awaited", node.expression);
  // A top-level `return` is checked as `throw`.
  if (ts.isThrowStatement(node) || ts.isExportAssignment(node)) return as("result", node.expression);
  if (ts.isVariableDeclaration(node)) {
    if (node.initializer === undefined || ts.isIdentifier(node.name)) return [];
    return as(ts.isArrayBindingPattern(node.name) ? "value" : "member", node.initializer);
  }
  if (ts.isNewExpression(node)) {
    return READS.test(nameOf(node.expression)) ? as("value", ...(node.arguments ?? [])) : [];
  }
  return ts.isCallExpression(node) ? usesInCall(node, tools) : [];
}

function usesInCall(call: ts.CallExpression, tools: ReadonlySet<string>): PromiseUse[] {
  const { expression: callee, arguments: given } = call;
  const name = nameOf(callee);
  if (PRINTS.test(name) || tools.has(name)) {
    return given.flatMap(partsOf).map((expression) => ({ use: "printed", expression }));
  }
  if (name === "Object.fromEntries") return given.map((expression) => ({ use: "items", expression }));
  if (READS.test(name)) return given.map((expression) => ({ use: "value", expression }));
  if (!ts.isPropertyAccessExpression(callee)) return [];
  const method = callee.name.text;
  if (method === "join") return [{ use: "printed", expression: callee.expression }];
  const [callback, initial] = given;
  if (method === "reduce" && callback !== undefined && initial !== undefined)
    return [{ use: "reducer", expression: callback }];
  if (method === "forEach" && callback !== undefined) return [{ use: "each", expression: callback }];
  return PREDICATES.has(method) && callback !== undefined ? [{ use: "predicate", expression: callback }] : [];
}

/** The parts of a literal, so that the message names the part that is a promise. */
function partsOf(expression: ts.Expression): ts.Expression[] {
  if (ts.isArrayLiteralExpression(expression)) return expression.elements.flatMap(partsOf);
  if (!ts.isObjectLiteralExpression(expression)) return [expression];
  return expression.properties.flatMap((property): ts.Expression[] => {
    if (ts.isPropertyAssignment(property)) return partsOf(property.initializer);
    return ts.isShorthandPropertyAssignment(property) && ts.isIdentifier(property.name)
      ? [property.name]
      : [];
  });
}

function importedTools(source: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    if (toolModuleName(statement.moduleSpecifier.text) === undefined) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    for (const { name } of bindings.elements) names.add(name.text);
  }
  return names;
}

/** The text of the callee; empty for a long one, such as a chain of calls. */
function nameOf(callee: ts.Expression): string {
  return callee.end - callee.pos > MAX_NAME_CHARACTERS ? "" : callee.getText();
}

function isNothing(node: ts.Expression): boolean {
  return node.kind === ts.SyntaxKind.NullKeyword || (ts.isIdentifier(node) && node.text === "undefined");
}

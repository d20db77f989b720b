import * as ts from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/async";
import { IDENTITY } from "./promise-uses.ts";
import { ofTool } from "./type-facts.ts";

/** The smallest node that contains a position. */
export function nodeAt(source: ts.SourceFile, position: number): ts.Node {
  let found: ts.Node = source;
  for (let next: ts.Node | undefined = source; next !== undefined;) {
    found = next;
    next = undefined;
    found.forEachChild((child) => {
      if (position >= child.getStart(source) && position < child.end) next = child;
      return next;
    });
  }
  return found;
}

const GLOBAL_OBJECTS = new Set(["globalThis", "global", "self", "window"]);

const known = new WeakMap<ts.SourceFile, ReturnType<typeof findFacts>>();

/** Facts of a program that excuse what would otherwise be a mistake. They are cached. */
export function factsOf(source: ts.SourceFile) {
  const found = known.get(source) ?? findFacts(source);
  known.set(source, found);
  return found;
}

function findFacts(source: ts.SourceFile) {
  /** The members that it assigns or deletes, which therefore may exist. */
  const writtenMembers = new Set<string>();
  /** The variables whose members it assigns, so that their values may have more members than declared. */
  const grownNames = new Set<string>();
  /** Those among them whose members it assigns by computed names. */
  const openNames = new Set<string>();
  /** The names that it tests for, `typeof Bun !== "undefined"`, or makes: `globalThis.cache = {}`. */
  const globalNames = new Set<string>();
  /** The members that it reads where it allows for their absence: `r.items ?? []`, `if (r.error)`. */
  const testedMembers = new Set<string>();
  const tested = new Set<ts.Node>();
  const pending: ts.Node[] = [source];
  const replacements: ts.Node[] = [];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const { name, owner } of writesOf(node)) {
      if (name !== undefined) writtenMembers.add(name);
      else if (owner !== undefined) openNames.add(owner);
      if (owner !== undefined) grownNames.add(owner);
      if (name !== undefined && GLOBAL_OBJECTS.has(owner ?? "")) globalNames.add(name);
    }
    if (ts.isBinaryExpression(node) && ts.isIdentifier(node.left) && isAssigned(node.left))
      replacements.push(node.right);
    if (ts.isTypeOfExpression(node) && ts.isIdentifier(node.expression))
      globalNames.add(node.expression.text);
    for (const part of testedIn(node, tested.has(node), source)) tested.add(part);
    if (ts.isPropertyAccessExpression(node) && tested.has(node)) testedMembers.add(pathOf(node, source));
    node.forEachChild((child) => void pending.push(child));
  }
  // `rows = rows.map((row) => ({ ...row, double: row.price * 2 }))`: TypeScript keeps the variable's initial type.
  const seen = new Set<ts.Node>();
  for (let node = replacements.pop(); node !== undefined; node = replacements.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) {
      const name = nameOf(node.name);
      if (name !== undefined) writtenMembers.add(name);
    }
    node.forEachChild((child) => void replacements.push(child));
  }
  return { writtenMembers, grownNames, openNames, globalNames, testedMembers };
}

/** A longer text of a member is left out: those of a very long chain would fill the memory. */
const MAX_PATH_CHARACTERS = 200;

/** The text of a member that is read, with `?.` as `.`, since a test and the use may be written in either way. */
function pathOf(access: ts.Expression, source: ts.SourceFile): string {
  const start = access.getStart(source);
  if (access.end - start > MAX_PATH_CHARACTERS) return "";
  return source.text.slice(start, access.end).replaceAll("?.", ".");
}

const LOGICAL = new Set(["&&", "||", "??"]);

/** The parts of a node, or itself, whose absence the program allows for. A tested node hands that on to its operands. */
function testedIn(node: ts.Node, isTested: boolean, source: ts.SourceFile): readonly ts.Node[] {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) return [node.expression];
  if (ts.isTypeOfExpression(node)) return [node.expression];
  if (ts.isPrefixUnaryExpression(node))
    return node.operator === ts.SyntaxKind.ExclamationToken ? [node.operand] : [];
  if (ts.isConditionalExpression(node))
    return isTested ? [node.condition, node.whenTrue, node.whenFalse] : [node.condition];
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText(source);
    if (isTested) return LOGICAL.has(operator) || IDENTITY.has(operator) ? [node.left, node.right] : [];
    return LOGICAL.has(operator) ? [node.left] : [];
  }
  const isAccess = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
  if ((isAccess || ts.isCallExpression(node)) && node.questionDotToken !== undefined)
    return [node, node.expression];
  if (!isTested) return [];
  if (ts.isCallExpression(node) && pathOf(node.expression, source) === "Array.isArray") return node.arguments;
  return ts.isParenthesizedExpression(node) ? [node.expression] : [];
}

/** Whether a node runs only with a member that a tool's type lacks: `if (r.isError) throw new Error(r.content[0].text)`. */
export async function isGuarded(node: ts.Node, checker: Checker): Promise<boolean> {
  for (let part = node; !ts.isSourceFile(part); part = part.parent) {
    const { parent } = part;
    if (!ts.isIfStatement(parent) || parent.thenStatement !== part) continue;
    const { expression: test } = parent;
    if (!ts.isPropertyAccessExpression(test)) return false;
    const type = await checker.getTypeAtLocation(test.expression);
    const isMissing = (await checker.getSymbolAtLocation(test.name)) === undefined;
    return isMissing && type !== undefined && ofTool(type);
  }
  return false;
}

/** The members that a node writes, without a name if it is computed, and the variable that holds the object. */
type MemberWrites = { name: string | undefined; owner: string | undefined }[];

/** `o.a = 1`, `o["a"] = 1`, `Object.assign(o, { a: 1 })`, `Object.defineProperty(o, "a", …)`. */
function writesOf(node: ts.Node): MemberWrites {
  const isAccess = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
  if (isAccess && isAssigned(node)) return [{ name: memberName(node), owner: nameOf(node.expression) }];
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { expression: callee, name: method } = node.expression;
  if (nameOf(callee) !== "Object" || !/^(?:assign|define\w+)$/u.test(method.text)) return [];
  const [target, ...sources] = node.arguments;
  const owner = target && nameOf(target);
  return sources.flatMap((source): MemberWrites => {
    if (ts.isStringLiteral(source)) return [{ name: source.text, owner }];
    if (!ts.isObjectLiteralExpression(source)) return [{ name: undefined, owner }];
    return source.properties.map((member) => {
      const isNamed = ts.isPropertyAssignment(member) || ts.isShorthandPropertyAssignment(member);
      return { name: isNamed ? nameOf(member.name) : undefined, owner };
    });
  });
}

function memberName(node: ts.PropertyAccessExpression | ts.ElementAccessExpression): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  const { argumentExpression: key } = node;
  return ts.isStringLiteral(key) ? key.text : undefined;
}

function nameOf(node: ts.Node): string | undefined {
  return ts.isIdentifier(node) ? node.text : undefined;
}

/** Whether a node is part of an assignment target: on the left side of `x = 1`, `x.a = 1`, `({ x } = …)`. */
export function isOfAssigned(node: ts.Node): boolean {
  let part = node;
  while (ts.isPropertyAccessExpression(part.parent) || ts.isElementAccessExpression(part.parent))
    part = part.parent;
  return isAssigned(part);
}

function isAssigned(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isDeleteExpression(parent)) return true;
  if (!ts.isBinaryExpression(parent) || parent.left !== node) return false;
  const { kind } = parent.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** The member that is read at a place: `weather.temprature`, or a name in `const { temprature } = await get_weather(…)`. */
export async function memberReadAt(node: ts.Node, checker: Checker) {
  if (ts.isBindingElement(node.parent)) return bindingAt(node, node.parent, checker);
  const access = node.parent;
  if (!ts.isPropertyAccessExpression(access) || access.name !== node) return undefined;
  const { expression, name } = access;
  const type = await checker.getTypeAtLocation(expression);
  const path = pathOf(access, access.getSourceFile());
  return { name: name.text, type, called: isCalled(access), text: expression.getText(), path };
}

async function bindingAt(node: ts.Node, element: ts.BindingElement, checker: Checker) {
  const name = element.propertyName ?? element.name;
  if (node !== name || !ts.isIdentifier(name) || !ts.isObjectBindingPattern(element.parent)) return undefined;
  if (element.initializer !== undefined) return undefined;
  const holder = element.parent.parent;
  const source = ts.isVariableDeclaration(holder) ? holder.initializer : undefined;
  const type = await checker.getTypeAtLocation(source ?? element.parent);
  return { name: name.text, type, called: false, text: source?.getText() ?? "it", path: undefined };
}

function isCalled(access: ts.PropertyAccessExpression): boolean {
  const { parent } = access;
  return ts.isCallExpression(parent) && parent.expression === access && parent.questionDotToken === undefined;
}

/** Whether the name is imported as a type, which is removed at run time and needs no export. */
export function isTypeImport(node: ts.Node): boolean {
  for (let part = node; !ts.isSourceFile(part); part = part.parent) {
    if (ts.isImportSpecifier(part) && part.isTypeOnly) return true;
    if (ts.isImportDeclaration(part)) return part.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
  }
  return false;
}

/** Whether a name belongs to a type, which is removed at run time. */
export function isInType(name: ts.Node): boolean {
  let { parent } = name;
  while (ts.isQualifiedName(parent) || ts.isPropertyAccessExpression(parent)) parent = parent.parent;
  if (ts.isExpressionWithTypeArguments(parent)) return !isExtendedByClass(parent);
  return ts.isTypeNode(parent) && !ts.isTypeQueryNode(parent);
}

/** Whether a class extends it, which makes it a value. */
function isExtendedByClass({ parent }: ts.Node): boolean {
  if (!ts.isHeritageClause(parent) || parent.token !== ts.SyntaxKind.ExtendsKeyword) return false;
  return ts.isClassDeclaration(parent.parent) || ts.isClassExpression(parent.parent);
}

/** Whether it is the `require` of `require("path")` or `require.main`, which an import or the compiler stands for. */
export function isRequired({ text, parent }: ts.Identifier): boolean {
  if (text !== "require") return false;
  if (ts.isPropertyAccessExpression(parent)) return parent.name.text === "main";
  return ts.isCallExpression(parent) && parent.arguments[0]?.kind === ts.SyntaxKind.StringLiteral;
}

/** The value that is iterated by the innermost loop, spread or pattern around a node. */
export function iteratedValue(node: ts.Node): ts.Expression | undefined {
  for (let part = node; !ts.isSourceFile(part); part = part.parent) {
    const { parent } = part;
    if (ts.isForOfStatement(parent)) return parent.expression === part ? parent.expression : undefined;
    if (ts.isSpreadElement(parent)) return parent.expression;
    if (ts.isVariableDeclaration(parent))
      return ts.isArrayBindingPattern(parent.name) ? parent.initializer : undefined;
  }
  return undefined;
}

/** The call around a node, within its statement. */
export function enclosingCall(node: ts.Node): ts.CallExpression | undefined {
  for (let part = node; !ts.isSourceFile(part); part = part.parent) {
    if (ts.isCallExpression(part)) return part;
    if (ts.isStatement(part)) return undefined;
  }
  return undefined;
}

/** The innermost value at a place in the literals of an argument, or the innermost literal itself. */
export function partAt(value: ts.Expression, pos: number, wantsLiteral: boolean): ts.Expression {
  const isAt = (node: ts.Node): boolean => node.getStart() <= pos && pos < node.end;
  const inner = innerValue(value, isAt);
  if (inner === undefined || (wantsLiteral && !isLiteral(inner))) return value;
  return partAt(inner, pos, wantsLiteral);
}

function innerValue(value: ts.Expression, isAt: (node: ts.Node) => boolean): ts.Expression | undefined {
  if (ts.isArrayLiteralExpression(value)) return value.elements.find(isAt);
  if (!ts.isObjectLiteralExpression(value)) return undefined;
  const property = value.properties.find(isAt);
  if (property !== undefined && ts.isPropertyAssignment(property)) return property.initializer;
  return property !== undefined &&
    ts.isShorthandPropertyAssignment(property) &&
    ts.isIdentifier(property.name)
    ? property.name
    : undefined;
}

function isLiteral(value: ts.Expression): boolean {
  return ts.isObjectLiteralExpression(value) || ts.isArrayLiteralExpression(value);
}

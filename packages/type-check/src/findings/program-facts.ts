import {
  isArrayBindingPattern,
  isArrayLiteralExpression,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isClassDeclaration,
  isClassExpression,
  isDeleteExpression,
  isExpressionWithTypeArguments,
  isForOfStatement,
  isHeritageClause,
  isIdentifier,
  isImportDeclaration,
  isImportSpecifier,
  isObjectBindingPattern,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isQualifiedName,
  isShorthandPropertyAssignment,
  isSourceFile,
  isSpreadElement,
  isStatement,
  isTypeNode,
  isTypeOfExpression,
  isTypeQueryNode,
  isVariableDeclaration,
  SyntaxKind,
  type BindingElement,
  type CallExpression,
  type Checker,
  type Expression,
  type Node,
  type PropertyAccessExpression,
  type SourceFile,
  type Type,
} from "../compiler/typescript.ts";

/** The smallest node that contains a position. */
export function nodeAt(source: SourceFile, position: number): Node {
  let found: Node = source;
  for (let next: Node | undefined = source; next !== undefined;) {
    found = next;
    next = undefined;
    found.forEachChild((child) => {
      if (position >= child.getStart(source) && position < child.end) next = child;
      return next;
    });
  }
  return found;
}

/** Facts of a program that excuse what would otherwise be a mistake. */
export interface ProgramFacts {
  /** The members that it assigns or deletes, so that they may exist. */
  writtenMembers: ReadonlySet<string>;
  /** The names that it tests for: `typeof Bun !== "undefined"`. */
  testedNames: ReadonlySet<string>;
}

const known = new WeakMap<SourceFile, ProgramFacts>();

/** The facts of a program. They are cached. */
export function factsOf(source: SourceFile): ProgramFacts {
  const found = known.get(source) ?? findFacts(source);
  known.set(source, found);
  return found;
}

function findFacts(source: SourceFile): ProgramFacts {
  const writtenMembers = new Set<string>();
  const testedNames = new Set<string>();
  const pending: Node[] = [source];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (isPropertyAccessExpression(node) && isAssigned(node)) writtenMembers.add(node.name.text);
    if (isTypeOfExpression(node) && isIdentifier(node.expression)) testedNames.add(node.expression.text);
    node.forEachChild((child) => void pending.push(child));
  }
  return { writtenMembers, testedNames };
}

function isAssigned(node: Node): boolean {
  const { parent } = node;
  if (isDeleteExpression(parent)) return true;
  if (!isBinaryExpression(parent) || parent.left !== node) return false;
  const { kind } = parent.operatorToken;
  return kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment;
}

/** A member that is read from a value. */
export interface MemberRead {
  name: string;
  /** The value that it is read from. */
  text: string;
  type: Type | undefined;
  called: boolean;
  /** Whether it is read by a dot, and not by a pattern. */
  isAccess: boolean;
}

/** The member that is read at a place: `weather.temprature`, or a name in `const { temprature } = await get_weather(…)`. */
export async function memberReadAt(node: Node, checker: Checker): Promise<MemberRead | undefined> {
  if (isBindingElement(node.parent)) return bindingAt(node, node.parent, checker);
  const access = node.parent;
  if (!isPropertyAccessExpression(access) || access.name !== node) return undefined;
  const { expression, name } = access;
  const type = await checker.getTypeAtLocation(expression);
  return { name: name.text, type, called: isCalled(access), text: expression.getText(), isAccess: true };
}

async function bindingAt(
  node: Node,
  element: BindingElement,
  checker: Checker,
): Promise<MemberRead | undefined> {
  const name = element.propertyName ?? element.name;
  if (node !== name || !isIdentifier(name) || !isObjectBindingPattern(element.parent)) return undefined;
  if (element.initializer !== undefined) return undefined;
  const holder = element.parent.parent;
  const source = isVariableDeclaration(holder) ? holder.initializer : undefined;
  const type = await checker.getTypeAtLocation(source ?? element.parent);
  return { name: name.text, type, called: false, text: source?.getText() ?? "it", isAccess: false };
}

function isCalled(access: PropertyAccessExpression): boolean {
  const { parent } = access;
  return isCallExpression(parent) && parent.expression === access && parent.questionDotToken === undefined;
}

/** Whether the name is imported as a type, which is removed at run time and needs no export. */
export function isTypeImport(node: Node): boolean {
  for (let part = node; !isSourceFile(part); part = part.parent) {
    if (isImportSpecifier(part) && part.isTypeOnly) return true;
    if (isImportDeclaration(part)) return part.importClause?.phaseModifier === SyntaxKind.TypeKeyword;
  }
  return false;
}

/** Whether a name belongs to a type, which is removed at run time. */
export function isInType(name: Node): boolean {
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

/** The value that is iterated by the innermost loop, spread or pattern around a node. */
export function iteratedValue(node: Node): Expression | undefined {
  for (let part = node; !isSourceFile(part); part = part.parent) {
    const { parent } = part;
    if (isForOfStatement(parent)) return parent.expression === part ? parent.expression : undefined;
    if (isSpreadElement(parent)) return parent.expression;
    if (isVariableDeclaration(parent))
      return isArrayBindingPattern(parent.name) ? parent.initializer : undefined;
  }
  return undefined;
}

/** The call around a node, within its statement. */
export function enclosingCall(node: Node): CallExpression | undefined {
  for (let part = node; !isSourceFile(part); part = part.parent) {
    if (isCallExpression(part)) return part;
    if (isStatement(part)) return undefined;
  }
  return undefined;
}

/** The innermost value at a place in the literals of an argument, or the innermost literal itself. */
export function partAt(value: Expression, pos: number, wantsLiteral: boolean): Expression {
  const isAt = (node: Node): boolean => node.getStart() <= pos && pos < node.end;
  const inner = innerValue(value, isAt);
  if (inner === undefined || (wantsLiteral && !isLiteral(inner))) return value;
  return partAt(inner, pos, wantsLiteral);
}

function innerValue(value: Expression, isAt: (node: Node) => boolean): Expression | undefined {
  if (isArrayLiteralExpression(value)) return value.elements.find(isAt);
  if (!isObjectLiteralExpression(value)) return undefined;
  const property = value.properties.find(isAt);
  if (property !== undefined && isPropertyAssignment(property)) return property.initializer;
  return property !== undefined && isShorthandPropertyAssignment(property) && isIdentifier(property.name)
    ? property.name
    : undefined;
}

function isLiteral(value: Expression): boolean {
  return isObjectLiteralExpression(value) || isArrayLiteralExpression(value);
}

import { nearest } from "@cem/text";
import ts from "typescript";
import { declaredBy, suggestion, typeText } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";

/** Built-in types on which an unknown member is certainly a mistake. */
const PLAIN_TYPES = new Set(["Array", "ReadonlyArray", "Promise", "Map", "Set", "Date"]);
const MAX_LISTED = 12;

/** Explains a member that a value does not have, unless the program assigns that member or made the value itself. */
export function explainMember(node: ts.Node, checker: ts.TypeChecker): Explanation | undefined {
  if (ts.isBindingElement(node.parent)) return explainBinding(node, node.parent, checker);
  const access = node.parent;
  if (!ts.isPropertyAccessExpression(access) || access.name !== node) return undefined;
  const name = access.name.text;
  if (isWritten(access, name)) return undefined;
  const type = checker.getTypeAtLocation(access.expression);
  return describe(name, type, isCalled(access), access.expression.getText(), checker);
}

/** Explains a destructured name: `const { temprature } = await get_weather(…)`. */
function explainBinding(
  node: ts.Node,
  element: ts.BindingElement,
  checker: ts.TypeChecker,
): Explanation | undefined {
  const name = element.propertyName ?? element.name;
  if (node !== name || !ts.isIdentifier(name) || !ts.isObjectBindingPattern(element.parent)) return undefined;
  if (element.initializer !== undefined) return undefined;
  const holder = element.parent.parent;
  const source = ts.isVariableDeclaration(holder) ? holder.initializer : undefined;
  const type = checker.getTypeAtLocation(source ?? element.parent);
  return describe(name.text, type, false, source?.getText() ?? "it", checker);
}

function describe(
  name: string,
  type: ts.Type,
  called: boolean,
  text: string,
  checker: ts.TypeChecker,
): Explanation | undefined {
  const members = type.isUnion() ? type.types : [type];
  // One case of the union has the member, and the program may know that it is that case.
  if (members.some((member) => member.getProperty(name) !== undefined)) return undefined;
  const nonNull = checker.getNonNullableType(type);
  if (isPromise(nonNull)) {
    const message = `${clip(text)} is a Promise: write (await ${clip(text)}).${name}.`;
    return { rule: "missing-await", message };
  }
  if (!members.some((member) => isKnown(member, called))) return undefined;
  const names = nonNull.getApparentProperties().map((property) => property.name);
  const near = nearest(name, names);
  const isOfTool = members.some((member) => ofTool(member));
  const listed = isOfTool ? ` It has ${names.slice(0, MAX_LISTED).join(", ")}.` : "";
  const other = near.length > 0 ? suggestion(near) : listed;
  return {
    rule: "unknown-member",
    message: `${clip(text)} has no ${name}: it is ${typeText(checker.getBaseTypeOfLiteralType(nonNull), checker)}.${other}`,
  };
}

/** Whether values of this type certainly have no other members. */
function isKnown(type: ts.Type, called: boolean): boolean {
  if (ofTool(type)) return true;
  if ((type.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike)) !== 0)
    return true;
  const symbol = type.getSymbol();
  if (symbol?.declarations?.some((one) => declaredBy(one) !== "library") ?? true) return false;
  return called || PLAIN_TYPES.has(symbol?.name ?? "");
}

function ofTool(type: ts.Type): boolean {
  const symbol = type.aliasSymbol ?? type.getSymbol();
  return symbol?.declarations?.some((one) => declaredBy(one) === "tool") ?? false;
}

function isPromise(type: ts.Type): boolean {
  const symbol = type.getSymbol();
  return (
    symbol?.name === "Promise" && symbol.declarations?.some((one) => declaredBy(one) === "library") === true
  );
}

function isCalled(access: ts.PropertyAccessExpression): boolean {
  const { parent } = access;
  return ts.isCallExpression(parent) && parent.expression === access && parent.questionDotToken === undefined;
}

/** Whether the program assigns this member anywhere, so that it may exist. */
function isWritten(access: ts.PropertyAccessExpression, name: string): boolean {
  let written = false;
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && node.name.text === name && isAssigned(node)) written = true;
    if (!written) ts.forEachChild(node, visit);
  };
  visit(access.getSourceFile());
  return written;
}

function isAssigned(node: ts.Expression): boolean {
  const { parent } = node;
  if (ts.isDeleteExpression(parent)) return true;
  if (!ts.isBinaryExpression(parent) || parent.left !== node) return false;
  const { kind } = parent.operatorToken;
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function clip(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

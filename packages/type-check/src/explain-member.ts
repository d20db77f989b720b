import { factsOf } from "./program-facts.ts";
import {
  clip,
  isKnown,
  isPromise,
  membersOf,
  nearNames,
  ofTool,
  someOf,
  suggestion,
  typeText,
} from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";
import {
  type BindingElement,
  type Checker,
  isBindingElement,
  isCallExpression,
  isIdentifier,
  isObjectBindingPattern,
  isPropertyAccessExpression,
  isVariableDeclaration,
  type Node,
  type PropertyAccessExpression,
  type Type,
} from "./typescript.ts";

const MAX_LISTED = 12;

/** A member that is read from a value. */
export interface MemberRead {
  name: string;
  /** The value that it is read from. */
  text: string;
  type: Type | undefined;
  called: boolean;
}

/** Explains a member that a value does not have, unless the program assigns that member or made the value itself. */
export async function explainMember(node: Node, checker: Checker): Promise<Explanation | undefined> {
  const read = await memberReadAt(node, checker);
  if (read === undefined) return undefined;
  const { name, type } = read;
  const isWritten = !isBindingElement(node.parent) && factsOf(node.getSourceFile()).writtenMembers.has(name);
  if (isWritten && (type === undefined || !(await isPromise(type)))) return undefined;
  return describe(read, checker);
}

/** The member that is read at a place: `weather.temprature`, or a name in `const { temprature } = await get_weather(…)`. */
export async function memberReadAt(node: Node, checker: Checker): Promise<MemberRead | undefined> {
  if (isBindingElement(node.parent)) return bindingAt(node, node.parent, checker);
  const access = node.parent;
  if (!isPropertyAccessExpression(access) || access.name !== node) return undefined;
  const type = await checker.getTypeAtLocation(access.expression);
  return { name: access.name.text, type, called: isCalled(access), text: access.expression.getText() };
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
  return { name: name.text, type, called: false, text: source?.getText() ?? "it" };
}

async function describe(
  { name, type, called, text }: MemberRead,
  checker: Checker,
): Promise<Explanation | undefined> {
  if (type === undefined) return undefined;
  const members = await membersOf(type);
  // One case of the union has the member, and the program may know that it is that case.
  const has = await Promise.all(members.map((member) => checker.getPropertyOfType(member, name)));
  if (has.some((property) => property !== undefined)) return undefined;
  const nonNull = (await checker.getNonNullableType(type)) ?? type;
  if (await isPromise(nonNull)) {
    const message = `${clip(text)} is a Promise: write (await ${clip(text)}).${name}.`;
    return { rule: "missing-await", message };
  }
  if (!(await someOf(members, (member) => isKnown(member, called)))) return undefined;
  const apparent = (await checker.getApparentType(nonNull)) ?? nonNull;
  const names = (await checker.getPropertiesOfType(apparent)).map((property) => property.name);
  const near = nearNames(name, names);
  const isListed = names.length > 0 && (await someOf(members, ofTool));
  const listed = isListed ? ` It has ${names.slice(0, MAX_LISTED).join(", ")}.` : "";
  const other = near.length > 0 ? suggestion(near) : listed;
  const base = (await checker.getBaseTypeOfLiteralType(nonNull)) ?? nonNull;
  return {
    rule: "unknown-member",
    message: `${clip(text)} has no ${name}: it is ${await typeText(base, checker)}.${other}`,
  };
}

function isCalled(access: PropertyAccessExpression): boolean {
  const { parent } = access;
  return isCallExpression(parent) && parent.expression === access && parent.questionDotToken === undefined;
}

import { clip, isKnown, membersOf, someOf, typeText } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";
import {
  type Checker,
  type Expression,
  isArrayBindingPattern,
  isForOfStatement,
  isSourceFile,
  isSpreadElement,
  isVariableDeclaration,
  type Node,
  type Type,
} from "./typescript.ts";

const ITERATOR = "__@iterator";

/** Explains a value that is read as a list and is none: `for (const contact of found)` where `found` has `contacts`. */
export async function explainIteration(node: Node, checker: Checker): Promise<Explanation | undefined> {
  const value = iteratedValue(node);
  const type = value === undefined ? undefined : await checker.getTypeAtLocation(value);
  if (value === undefined || type === undefined) return undefined;
  const nonNull = (await checker.getNonNullableType(type)) ?? type;
  const members = await membersOf(nonNull);
  const mayBeList = async (member: Type): Promise<boolean> =>
    !(await isKnown(member, false)) || isIterable(member, checker);
  if (await someOf(members, mayBeList)) return undefined;
  const text = clip(value.getText());
  const lists = await listsOf(nonNull, checker);
  const [list] = lists;
  const meant =
    list === undefined
      ? `Write Object.entries(${text}) for its properties.`
      : `It has ${lists.length === 1 ? "the list" : "the lists"} ${lists.join(", ")}: write ${accessTo(value, list)}.`;
  return {
    rule: "not-a-list",
    message: `${text} is not a list: it is ${await typeText(nonNull, checker)}. ${meant}`,
  };
}

function iteratedValue(node: Node): Expression | undefined {
  for (let part = node; !isSourceFile(part); part = part.parent) {
    const { parent } = part;
    if (isForOfStatement(parent)) return parent.expression === part ? parent.expression : undefined;
    if (isSpreadElement(parent)) return parent.expression;
    if (isVariableDeclaration(parent))
      return isArrayBindingPattern(parent.name) ? parent.initializer : undefined;
  }
  return undefined;
}

async function isIterable(type: Type, checker: Checker): Promise<boolean> {
  const apparent = (await checker.getApparentType(type)) ?? type;
  return (await checker.getPropertiesOfType(apparent)).some(({ name }) => name.startsWith(ITERATOR));
}

/** The names of the properties that are lists. */
async function listsOf(type: Type, checker: Checker): Promise<string[]> {
  const lists: string[] = [];
  for (const property of await checker.getPropertiesOfType(type)) {
    const held = await checker.getTypeOfSymbol(property);
    if (held !== undefined && (await checker.isArrayLikeType(held))) lists.push(property.name);
  }
  return lists;
}

function accessTo(value: Expression, property: string): string {
  const text = clip(value.getText());
  return /^await\b/u.test(text) ? `(${text}).${property}` : `${text}.${property}`;
}

import { memberReadAt } from "./explain-member.ts";
import { factsOf } from "./program-facts.ts";
import { clip, membersOf, nearNames, suggestion } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";
import type { Checker, Node, Type } from "./typescript.ts";

/** TypeScript's codes for a member that does not exist. */
export const MISSING_MEMBER: ReadonlySet<number> = new Set([2339, 2551]);
/** TypeScript's name for the type of an object that is written in the program. */
const OBJECT_LITERAL = "__object";
const MAX_LISTED = 12;

/**
 * Explains a member that is read from an object which the program made without it. That stops no code, and tells why a value is
 * missing in what it returns.
 */
export async function suspectMember(node: Node, checker: Checker): Promise<Explanation | undefined> {
  const read = await memberReadAt(node, checker);
  if (read?.type === undefined) return undefined;
  const { name, text } = read;
  if (factsOf(node.getSourceFile()).writtenMembers.has(name)) return undefined;
  const type = (await checker.getNonNullableType(read.type)) ?? read.type;
  const made = await Promise.all((await membersOf(type)).map((member) => isMade(member, checker)));
  const properties = (await checker.getPropertiesOfType(type)).map((property) => property.name);
  if (made.includes(false) || properties.length === 0 || properties.includes(name)) return undefined;
  const has = ` It has ${properties.slice(0, MAX_LISTED).join(", ")}.`;
  const near = nearNames(name, properties);
  return {
    rule: "unknown-member",
    message: `${clip(text)} has no ${name}.${near.length > 0 ? suggestion(near) : has}`,
  };
}

async function isMade(type: Type, checker: Checker): Promise<boolean> {
  const symbol = await type.getSymbol();
  return symbol?.name === OBJECT_LITERAL && (await checker.getIndexInfosOfType(type)).length === 0;
}

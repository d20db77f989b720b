import type { Finding } from "@cem/core";
import type * as ts from "typescript/unstable/ast";
import { NodeBuilderFlags, SignatureKind, SymbolFlags, TypeFlags } from "typescript/unstable/async";
import type { Checker, NodeHandle, Symbol, Type } from "typescript/unstable/async";

/** Built-in types on which an unknown member is certainly a mistake. */
const PLAIN_TYPES = new Set(["Array", "ReadonlyArray", "Promise", "Map", "Set", "Date"]);
/** TypeScript's name for the type of an object that is written in the program. */
const OBJECT_LITERAL = "__object";
const MAX_TYPE_CHARACTERS = 160;
/** Maximum number of names to list when TypeScript suggests none. */
const MAX_LISTED = 12;
export const SUGGESTION = /Did you mean/u;
const TOOL_MODULE = /^\/(?:workspace|files)\/(?<folder>servers|skills)\/(?<name>[^/]+)\//u;

export type Explanation = Pick<Finding, "rule" | "message"> & {
  /** @defaultValue error */
  severity?: Finding["severity"] | undefined;
};

/** Where something is declared: in a tool, in TypeScript's library or in the program. */
export function declaredBy(declaration: NodeHandle | undefined) {
  const file = declaration?.path ?? "";
  if (TOOL_MODULE.test(file)) return "tool";
  return file === "" || file.startsWith("/workspace/") ? "program" : "library";
}

/** The folder and name of a tool's module, such as `servers/weather`, from its file or an import specifier. */
export function toolModuleName(file: string): string | undefined {
  const absolute = file
    .replace(/^file:\/\//u, "")
    .replace(/^(?:\.\/)?(?=(?:servers|skills)\/)/u, "/workspace/");
  const { folder, name } = TOOL_MODULE.exec(`${absolute}/`)?.groups ?? {};
  return folder === undefined ? undefined : `${folder}/${name}`;
}

export async function membersOf(type: Type): Promise<readonly Type[]> {
  return type.isUnionType() ? type.getTypes() : [type];
}

function isOptionalProperty({ flags }: Symbol): boolean {
  return (flags & SymbolFlags.Optional) !== 0;
}

/** Whether a type is a promise, or a union of promises. */
export async function isPromise(type: Type): Promise<boolean> {
  const members = await membersOf(type);
  const found = members.map(async (member) => {
    if (!member.isObjectType()) return false;
    const symbol = await member.getSymbol();
    return symbol?.name === "Promise" && symbol.declarations.some((one) => declaredBy(one) === "library");
  });
  return !(await Promise.all(found)).includes(false);
}

/** The type of the items of a list; `undefined` for anything else. */
export async function itemOf(type: Type, checker: Checker): Promise<Type | undefined> {
  if (!(await checker.isArrayLikeType(type))) return undefined;
  const indexes = await checker.getIndexInfosOfType(type);
  return indexes.find(({ keyType }) => (keyType.flags & TypeFlags.Number) !== 0)?.valueType;
}

/** Whether values of this type certainly have no other members. */
export async function isKnown(type: Type, called: boolean): Promise<boolean> {
  if (await ofTool(type)) return true;
  if ((type.flags & (TypeFlags.StringLike | TypeFlags.NumberLike | TypeFlags.BooleanLike)) !== 0) return true;
  const symbol = await type.getSymbol();
  if (symbol === undefined || symbol.declarations.some((one) => declaredBy(one) !== "library")) return false;
  // After `instanceof Object`, nothing more than `Object` is known of a value.
  return (called && symbol.name !== "Object") || PLAIN_TYPES.has(symbol.name);
}

/** Whether a type is that of object literals of the program, without an index. */
export async function isOwnObject(type: Type, checker: Checker): Promise<boolean> {
  if ((await checker.getPropertiesOfType(type)).length === 0) return false;
  const members = (await membersOf(type)).map(async (member) => {
    const symbol = await member.getSymbol();
    return symbol?.name === OBJECT_LITERAL && (await checker.getIndexInfosOfType(member)).length === 0;
  });
  return !(await Promise.all(members)).includes(false);
}

export async function ofTool(type: Type): Promise<boolean> {
  const symbol = (await type.getAliasSymbol()) ?? (await type.getSymbol());
  return symbol?.declarations.some((one) => declaredBy(one) === "tool") ?? false;
}

export async function someOf<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(items.map(test))).includes(true);
}

/** Adds the members of a tool's type if TypeScript suggests none. */
export async function withMembers(text: string, type: Type, checker: Checker): Promise<string> {
  if (!(await someOf(await membersOf(type), ofTool))) return text;
  const properties = await checker.getPropertiesOfType((await checker.getApparentType(type)) ?? type);
  return withNames(
    text,
    "The type has",
    properties.map(({ name }) => name),
  );
}

export function withNames(text: string, verb: string, names: readonly string[]): string {
  if (SUGGESTION.test(text) || names.length === 0) return text;
  const left = names.length - MAX_LISTED;
  const more = left > 0 ? ` and ${left} more` : "";
  return `${text} ${verb} ${names.slice(0, MAX_LISTED).join(", ")}${more}.`;
}

async function typeText(type: Type, checker: Checker): Promise<string> {
  const flags = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias;
  return clipped(await checker.typeToString(type, undefined, flags));
}

/** The text of a member's type, without `undefined`: its name shows whether it is optional. */
async function memberText(type: Type, checker: Checker): Promise<string> {
  // Without null and undefined, TypeScript shows `unknown` as `{}`.
  const isUnknown = (type.flags & TypeFlags.Unknown) !== 0;
  const text = await typeText(isUnknown ? type : ((await checker.getNonNullableType(type)) ?? type), checker);
  const isNullable = (await membersOf(type)).some(({ flags }) => (flags & TypeFlags.Null) !== 0);
  return isNullable && text !== "null" ? `${text} | null` : text;
}

/** The text of a type, with an object type written as its properties instead of its name. */
export async function shapeText(type: Type, location: ts.Node, checker: Checker): Promise<string> {
  if (!type.isObjectType()) return typeText(type, checker);
  const [calls, isList] = await Promise.all([
    checker.getSignaturesOfType(type, SignatureKind.Call),
    checker.isArrayLikeType(type),
  ]);
  if (calls.length > 0 || isList) return typeText(type, checker);
  const properties = await checker.getPropertiesOfType(type);
  const members = properties.slice(0, MAX_TYPE_CHARACTERS).map(async (property) => {
    const member = await checker.getTypeOfSymbolAtLocation(property, location);
    return `${property.name}${isOptionalProperty(property) ? "?" : ""}: ${await memberText(member, checker)}`;
  });
  const text = members.length === 0 ? "{}" : `{ ${(await Promise.all(members)).join("; ")} }`;
  return clipped(text);
}

function clipped(text: string): string {
  return text.length > MAX_TYPE_CHARACTERS ? `${text.slice(0, MAX_TYPE_CHARACTERS)}…` : text;
}

export function clip(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** Deeper parts of a type are assumed to fit. */
const MAX_FIT_DEPTH = 6;
const OPEN = TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never | TypeFlags.TypeParameter;
const PRIMITIVE =
  TypeFlags.StringLike | TypeFlags.NumberLike | TypeFlags.BigIntLike | TypeFlags.BooleanLike | TypeFlags.Null;

/**
 * Whether some value of the given type may be of the wanted one. `string | null` could be a `string`, and a `string`
 * could be one of some literals: only the run decides.
 */
export async function couldFit(given: Type, wanted: Type, checker: Checker, depth = 0): Promise<boolean> {
  if (depth === MAX_FIT_DEPTH || ((given.flags | wanted.flags) & OPEN) !== 0) return true;
  if (await checker.isTypeAssignableTo(given, wanted)) return true;
  // Tools receive a BigInt as a number with all its digits.
  if ((given.flags & TypeFlags.BigIntLike) !== 0 && (wanted.flags & TypeFlags.NumberLike) !== 0) return true;
  const fits = async (one: Type, other: Type): Promise<boolean> => couldFit(one, other, checker, depth + 1);
  const members = await membersOf(given);
  if (members.length > 1) return some(members, (member) => fits(member, wanted));
  const options = await membersOf(wanted);
  if (options.length > 1) return some(options, (option) => fits(given, option));
  // The values of an enum are plain strings and numbers, which TypeScript tells apart from them.
  if ((given.flags & TypeFlags.EnumLike) !== 0) return (wanted.flags & PRIMITIVE) !== 0;
  if ((given.flags & TypeFlags.NonPrimitive) !== 0) return (wanted.flags & PRIMITIVE) === 0;
  if ((wanted.flags & PRIMITIVE) !== 0) return isPartOf(wanted, given, checker);
  if (!isObjectLike(given) || !isObjectLike(wanted)) return false;
  const [list, wantedList] = await Promise.all([itemOf(given, checker), itemOf(wanted, checker)]);
  if (list !== undefined || wantedList !== undefined) {
    return list !== undefined && wantedList !== undefined && fits(list, wantedList);
  }
  return (await isPlain(given, checker)) && objectFits(given, wanted, checker, depth + 1);
}

function isObjectLike(type: Type): boolean {
  return type.isObjectType() || type.isIntersectionType();
}

/** Whether each value of one primitive type is one of another: `"a"` of `string`. */
async function isPartOf(part: Type, whole: Type, checker: Checker): Promise<boolean> {
  return (whole.flags & PRIMITIVE) !== 0 && checker.isTypeAssignableTo(part, whole);
}

/** Whether values of a type are objects with properties, not functions, dates, promises and the like. */
async function isPlain(type: Type, checker: Checker): Promise<boolean> {
  if ((await checker.getSignaturesOfType(type, SignatureKind.Call)).length > 0) return false;
  const symbol = await type.getSymbol();
  const isOfLibrary = symbol?.declarations.some((one) => declaredBy(one) === "library") === true;
  // A type made by `Record`, `Partial` and the like has a symbol of the library, too.
  return !isOfLibrary || (symbol.flags & (SymbolFlags.Interface | SymbolFlags.Class)) === 0;
}

async function objectFits(given: Type, wanted: Type, checker: Checker, depth: number): Promise<boolean> {
  const [own, properties, indexes, wantedIndexes] = await Promise.all([
    checker.getPropertiesOfType(given),
    checker.getPropertiesOfType(wanted),
    checker.getIndexInfosOfType(given),
    checker.getIndexInfosOfType(wanted),
  ]);
  const fits = async (one: Type, other: Type): Promise<boolean> => couldFit(one, other, checker, depth);
  const named = properties.map(async (property) => {
    const found = own.find(({ name }) => name === property.name);
    if (found === undefined && isOptionalProperty(property)) return true;
    const type = found === undefined ? indexes[0]?.valueType : await checker.getTypeOfSymbol(found);
    const wantedType = await checker.getTypeOfSymbol(property);
    return type !== undefined && (wantedType === undefined || fits(type, wantedType));
  });
  const [index] = wantedIndexes;
  const others = own
    .filter(({ name }) => index !== undefined && !properties.some((property) => property.name === name))
    .map(async (property) => {
      const type = await checker.getTypeOfSymbol(property);
      return type === undefined || index === undefined || fits(type, index.valueType);
    });
  return !(await Promise.all([...named, ...others])).includes(false);
}

async function some(types: readonly Type[], test: (type: Type) => Promise<boolean>): Promise<boolean> {
  for (const type of types) if (await test(type)) return true;
  return false;
}

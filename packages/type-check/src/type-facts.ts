import type { Finding } from "@cem/core";
import { nearest } from "@cem/core/text";
import {
  type Checker,
  type Node,
  NodeBuilderFlags,
  type NodeHandle,
  SignatureKind,
  type SourceFile,
  type Symbol,
  SymbolFlags,
  type Type,
  TypeFlags,
} from "./typescript.ts";

/** Built-in types on which an unknown member is certainly a mistake. */
const PLAIN_TYPES = new Set(["Array", "ReadonlyArray", "Promise", "Map", "Set", "Date"]);
const MAX_TYPE_CHARACTERS = 160;
/** Code may declare or need any number of names. */
const MAX_CANDIDATES = 1_000;
const TOOL_MODULE = /^\/(?:workspace|files)\/(?<folder>servers|skills)\/(?<name>[^/]+)\//u;

/** A finding without its position. */
export type Explanation = Pick<Finding, "rule" | "message">;

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

/** Where something is declared: in a tool, in TypeScript's library or in the program. */
export type DeclaredBy = "tool" | "library" | "program";

export function declaredBy(declaration: NodeHandle | undefined): DeclaredBy {
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

/** The types that a union joins, or the type itself. */
export async function membersOf(type: Type): Promise<readonly Type[]> {
  return type.isUnionType() ? type.getTypes() : [type];
}

export function isOptionalProperty({ flags }: Symbol): boolean {
  return (flags & SymbolFlags.Optional) !== 0;
}

/** Whether a type is that of promises, or of several kinds of them. */
export async function isPromise(type: Type): Promise<boolean> {
  const members = await membersOf(type);
  const found = members.map(async (member) => {
    if (!member.isObjectType()) return false;
    const symbol = await member.getSymbol();
    return symbol?.name === "Promise" && symbol.declarations.some((one) => declaredBy(one) === "library");
  });
  return !(await Promise.all(found)).includes(false);
}

/** The type of the items of a list; `undefined` for what is none. */
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
  // `Object` is all that is known of a value after `instanceof Object`.
  return (called && symbol.name !== "Object") || PLAIN_TYPES.has(symbol.name);
}

/** Whether a type is declared by a tool. */
export async function ofTool(type: Type): Promise<boolean> {
  const symbol = (await type.getAliasSymbol()) ?? (await type.getSymbol());
  return symbol?.declarations.some((one) => declaredBy(one) === "tool") ?? false;
}

/** Whether a test that takes time holds for some of the items. */
export async function someOf<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(items.map(test))).includes(true);
}

/** The text of a type, shortened if long. */
export async function typeText(type: Type, checker: Checker): Promise<string> {
  const flags = NodeBuilderFlags.NoTruncation | NodeBuilderFlags.InTypeAlias;
  return clipped(await checker.typeToString(type, undefined, flags));
}

/** The text of a type without `null` and `undefined`. */
export async function nonNullText(type: Type, checker: Checker): Promise<string> {
  return typeText((await checker.getNonNullableType(type)) ?? type, checker);
}

/** The text of a type, with an object type written as its properties instead of its name. */
export async function shapeText(type: Type, location: Node, checker: Checker): Promise<string> {
  if (!type.isObjectType()) return typeText(type, checker);
  const [calls, isList] = await Promise.all([
    checker.getSignaturesOfType(type, SignatureKind.Call),
    checker.isArrayLikeType(type),
  ]);
  if (calls.length > 0 || isList) return typeText(type, checker);
  const properties = await checker.getPropertiesOfType(type);
  const members = properties.slice(0, MAX_TYPE_CHARACTERS).map(async (property) => {
    const member = await checker.getTypeOfSymbolAtLocation(property, location);
    return `${property.name}${isOptionalProperty(property) ? "?" : ""}: ${await nonNullText(member, checker)}`;
  });
  const text = members.length === 0 ? "{}" : `{ ${(await Promise.all(members)).join("; ")} }`;
  return clipped(text);
}

function clipped(text: string): string {
  return text.length > MAX_TYPE_CHARACTERS ? `${text.slice(0, MAX_TYPE_CHARACTERS)}…` : text;
}

/** A piece of the program in one line, shortened if long. */
export function clip(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** The names that may have been meant by one that does not exist, nearest first. */
export function nearNames(name: string, candidates: Iterable<string>, limit?: number): string[] {
  return nearest(name, [...candidates].slice(0, MAX_CANDIDATES), limit);
}

/** ` Did you mean a or b?`, or the empty string without names. */
export function suggestion(names: readonly string[]): string {
  return names.length > 0 ? ` Did you mean ${names.join(" or ")}?` : "";
}

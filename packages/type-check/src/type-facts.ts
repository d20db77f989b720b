import type { Finding } from "@cem/core";
import ts from "typescript";
import { LIBRARY_FOLDER } from "./guest-files.ts";

const MAX_TYPE_CHARACTERS = 160;
const TOOL_MODULE = /^\/(?:workspace|files)\/(?<folder>servers|skills)\/(?<name>[^/]+)\//u;

/** A finding without its position. */
export type Explanation = Pick<Finding, "rule" | "message">;

/** The smallest node that contains a position. */
export function nodeAt(source: ts.SourceFile, position: number): ts.Node {
  let found: ts.Node = source;
  const visit = (node: ts.Node): void => {
    if (position < node.getStart(source) || position >= node.end) return;
    found = node;
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return found;
}

/** Where something is declared: in a tool, in TypeScript's library or in the program. */
export type DeclaredBy = "tool" | "library" | "program";

export function declaredBy(declaration: ts.Node | undefined): DeclaredBy {
  const file = declaration?.getSourceFile().fileName ?? "";
  if (TOOL_MODULE.test(file)) return "tool";
  return file.startsWith(LIBRARY_FOLDER) ? "library" : "program";
}

/** The folder and name of a tool's module, such as `servers/weather`, from its file or an import specifier. */
export function toolModuleName(file: string): string | undefined {
  const absolute = file.replace(/^file:\/\//u, "").replace(/^\.\//u, "/workspace/");
  const { folder, name } = TOOL_MODULE.exec(absolute)?.groups ?? {};
  return folder === undefined ? undefined : `${folder}/${name}`;
}

/** The text of a type, shortened if long. */
export function typeText(type: ts.Type, checker: ts.TypeChecker): string {
  const text = checker.typeToString(
    type,
    undefined,
    ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias,
  );
  return clipped(text);
}

/** The text of a type, with an object type written as its properties instead of its name. */
export function shapeText(type: ts.Type, location: ts.Node, checker: ts.TypeChecker): string {
  if ((type.flags & ts.TypeFlags.Object) === 0 || type.getCallSignatures().length > 0)
    return typeText(type, checker);
  if (checker.isArrayLikeType(type)) return typeText(type, checker);
  const members = checker.getPropertiesOfType(type).map((property) => {
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    const member = checker.getTypeOfSymbolAtLocation(property, location);
    return `${property.name}${optional ? "?" : ""}: ${typeText(checker.getNonNullableType(member), checker)}`;
  });
  const text = members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
  return clipped(text);
}

function clipped(text: string): string {
  return text.length > MAX_TYPE_CHARACTERS ? `${text.slice(0, MAX_TYPE_CHARACTERS)}…` : text;
}

/** ` Did you mean a or b?`, or the empty string without names. */
export function suggestion(names: readonly string[]): string {
  return names.length > 0 ? ` Did you mean ${names.join(" or ")}?` : "";
}

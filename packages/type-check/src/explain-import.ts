import { nearest } from "@cem/text";
import ts from "typescript";
import { suggestion, toolModuleName } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";

const MAX_LISTED = 12;

/** Explains an import of a name that its module does not export. */
export function explainImport(node: ts.Node, checker: ts.TypeChecker): Explanation | undefined {
  let statement: ts.Node = node;
  while (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) {
    if (ts.isSourceFile(statement)) return undefined;
    statement = statement.parent;
  }
  const { moduleSpecifier } = statement;
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier) || isTypeImport(node))
    return undefined;
  const module = toolModuleName(moduleSpecifier.text);
  const symbol = checker.getSymbolAtLocation(moduleSpecifier);
  if (module === undefined || symbol === undefined) return undefined;
  const exported = checker.getExportsOfModule(symbol).map(({ name }) => name);
  const name = importedName(node);
  const near = nearest(name, exported);
  const listed = exported.slice(0, MAX_LISTED).join(", ");
  const others = near.length > 0 ? suggestion(near) : ` It exports ${listed}.`;
  return { rule: "unknown-export", message: `${name} is not exported by ${module}.${others}` };
}

function importedName(node: ts.Node): string {
  const specifier = ts.isImportSpecifier(node) || ts.isExportSpecifier(node) ? node : node.parent;
  if (ts.isImportSpecifier(specifier) || ts.isExportSpecifier(specifier))
    return (specifier.propertyName ?? specifier.name).text;
  return "default";
}

/** Whether the name is imported as a type, which is removed at run time and needs no export. */
function isTypeImport(node: ts.Node): boolean {
  for (let part = node; !ts.isSourceFile(part); part = part.parent) {
    if (ts.isImportSpecifier(part) && part.isTypeOnly) return true;
    if (ts.isImportDeclaration(part)) return part.importClause?.isTypeOnly ?? false;
  }
  return false;
}

import { nearNames, suggestion, toolModuleName } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";
import {
  type Checker,
  isExportDeclaration,
  isExportSpecifier,
  isImportDeclaration,
  isImportSpecifier,
  isSourceFile,
  isStringLiteral,
  type Node,
  SyntaxKind,
} from "./typescript.ts";

const MAX_LISTED = 12;

/** Explains an import of a name that its module does not export. */
export async function explainImport(node: Node, checker: Checker): Promise<Explanation | undefined> {
  let statement = node;
  while (!isImportDeclaration(statement) && !isExportDeclaration(statement)) {
    if (isSourceFile(statement)) return undefined;
    statement = statement.parent;
  }
  const { moduleSpecifier } = statement;
  if (moduleSpecifier === undefined || !isStringLiteral(moduleSpecifier) || isTypeImport(node))
    return undefined;
  const module = toolModuleName(moduleSpecifier.text);
  const symbol = await checker.getSymbolAtLocation(moduleSpecifier);
  if (module === undefined || symbol === undefined) return undefined;
  const exported = (await checker.getExportsOfModule(symbol)).map(({ name }) => name);
  const name = importedName(node);
  const near = nearNames(name, exported);
  const listed = exported.slice(0, MAX_LISTED).join(", ") || "nothing";
  const others = near.length > 0 ? suggestion(near) : ` It exports ${listed}.`;
  return { rule: "unknown-export", message: `${name} is not exported by ${module}.${others}` };
}

function importedName(node: Node): string {
  const specifier = isImportSpecifier(node) || isExportSpecifier(node) ? node : node.parent;
  if (isImportSpecifier(specifier) || isExportSpecifier(specifier))
    return (specifier.propertyName ?? specifier.name).text;
  return "default";
}

/** Whether the name is imported as a type, which is removed at run time and needs no export. */
function isTypeImport(node: Node): boolean {
  for (let part = node; !isSourceFile(part); part = part.parent) {
    if (isImportSpecifier(part) && part.isTypeOnly) return true;
    if (isImportDeclaration(part)) return part.importClause?.phaseModifier === SyntaxKind.TypeKeyword;
  }
  return false;
}

import type {
  ExportAllDeclaration,
  ExportNamedDeclaration,
  Identifier,
  ImportDeclaration,
  Node,
  Program,
  StringLiteral,
} from "@babel/types";
import { runtimeNodes } from "./syntax-tree.ts";

/** A position in the code; line and column are 1-based. */
export interface SourceLocation {
  line: number;
  column: number;
}

/** One name that is imported or re-exported from a module. */
export interface ImportedName extends SourceLocation {
  /** The export's name; `default` for a default import, `*` for the whole module. */
  imported: string;
  /** The name in the program. Absent for a re-export. */
  local?: string | undefined;
  /** Whether it has the `type` modifier and is removed at run time. */
  typeOnly: boolean;
}

/** One `import` or `export … from` declaration. */
export interface StaticImport extends SourceLocation {
  specifier: string;
  /** Empty for `import "module"`. */
  names: ImportedName[];
  /** Whether the whole declaration has the `type` modifier. */
  typeOnly: boolean;
  kind: "import" | "export";
}

/** One `import("module")` whose specifier is a string literal. */
export interface DynamicImport extends SourceLocation {
  specifier: string;
}

type WithSource = ImportDeclaration | ExportNamedDeclaration | ExportAllDeclaration;

/** Whether code may contain `import(…)` or `import.meta`. Most programs don't, and need not be searched. */
export function mayImportInExpression(code: string): boolean {
  return /\bimport\s*[(./]/.test(code);
}

/** The position where a node starts. */
export function locationOf(node: Node): SourceLocation {
  return { line: node.loc?.start.line ?? 1, column: (node.loc?.start.column ?? 0) + 1 };
}

/** The text of a name in an import or export, which may be an identifier or a string. */
export function nameOf(node: Identifier | StringLiteral): string {
  return node.type === "Identifier" ? node.name : node.value;
}

/** The names that one declaration imports or re-exports. */
export function namesOf(declaration: WithSource): ImportedName[] {
  if (declaration.type === "ExportAllDeclaration") {
    return [{ imported: "*", typeOnly: declaration.exportKind === "type", ...locationOf(declaration) }];
  }
  if (declaration.type === "ExportNamedDeclaration") {
    return declaration.specifiers.map((specifier) => ({
      imported: specifier.type === "ExportSpecifier" ? nameOf(specifier.local) : "*",
      typeOnly:
        declaration.exportKind === "type" ||
        (specifier.type === "ExportSpecifier" && specifier.exportKind === "type"),
      ...locationOf(specifier),
    }));
  }
  return declaration.specifiers.map((specifier) => ({
    imported:
      specifier.type === "ImportSpecifier"
        ? nameOf(specifier.imported)
        : specifier.type === "ImportDefaultSpecifier"
          ? "default"
          : "*",
    local: specifier.local.name,
    typeOnly:
      declaration.importKind === "type" ||
      (specifier.type === "ImportSpecifier" && specifier.importKind === "type"),
    ...locationOf(specifier),
  }));
}

export function listImports(program: Program): StaticImport[] {
  return program.body.flatMap((statement) => {
    if (!/^(?:Import|ExportNamed|ExportAll)Declaration$/.test(statement.type)) return [];
    const node = statement as WithSource;
    if (node.source == null) return [];
    const isImport = node.type === "ImportDeclaration";
    const typeOnly = (isImport ? node.importKind : node.exportKind) === "type";
    const { value: specifier } = node.source;
    const kind = isImport ? "import" : "export";
    return [{ specifier, names: namesOf(node), typeOnly, kind, ...locationOf(node) }];
  });
}

export function listDynamicImports(program: Program, code: string): DynamicImport[] {
  if (!mayImportInExpression(code)) return [];
  return [...runtimeNodes(program)].flatMap(({ node }) => {
    if (node.type !== "ImportExpression" || node.source.type !== "StringLiteral") return [];
    return [{ specifier: node.source.value, ...locationOf(node) }];
  });
}

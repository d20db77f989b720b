import type {
  ClassDeclaration,
  Expression,
  File,
  Node,
  Statement,
  TSEnumDeclaration,
  TSInterfaceDeclaration,
  TSTypeAliasDeclaration,
} from "@babel/types";
import { nameOf, parseProgram, type StaticImport } from "@cem/program";
import { indexComments, type Comments } from "./doc-comment.ts";
import type { ModuleFailure } from "./module-facts.ts";

export type Declaration =
  | { kind: "interface"; nodes: TSInterfaceDeclaration[]; module: SourceModule }
  | { kind: "alias"; node: TSTypeAliasDeclaration; module: SourceModule }
  | { kind: "enum"; node: TSEnumDeclaration; module: SourceModule }
  | { kind: "class"; node: ClassDeclaration; module: SourceModule }
  | { kind: "constant"; node: Expression; module: SourceModule };

interface Origin {
  /** The specifier as written: `./types.ts`. */
  specifier: string;
  /** The name in the other module; `*` for the whole module. */
  imported: string;
}

export interface SourceModule {
  file: string;
  code: string;
  ast: File;
  comments: Comments;
  links: readonly StaticImport[];
  declarations: ReadonlyMap<string, Declaration>;
  /** Imported names by their local names. */
  imports: ReadonlyMap<string, Origin>;
  /** Re-exported names by their exported names. */
  reexports: ReadonlyMap<string, Origin>;
  stars: readonly string[];
  /** Local names by their exported names, for `export { a as b }`. */
  exported: ReadonlyMap<string, string>;
}

export function parseSourceModule(file: string, code: string): SourceModule | ModuleFailure {
  const parsed = parseProgram(code);
  if (!parsed.ok) {
    const { message, line } = parsed.error;
    return { kind: "broken", message: `is not valid TypeScript: ${message}`, line };
  }
  const { ast, imports: links } = parsed.program;
  const declarations = new Map<string, Declaration>();
  const imports = new Map<string, Origin>();
  const reexports = new Map<string, Origin>();
  const exported = new Map<string, string>();
  const stars: string[] = [];
  const module: SourceModule = {
    file,
    code,
    ast,
    links,
    declarations,
    imports,
    reexports,
    stars,
    exported,
    comments: indexComments(code, ast),
  };
  for (const { specifier, names } of links)
    for (const { local, imported } of names)
      if (local !== undefined) imports.set(local, { specifier, imported });
  for (const statement of ast.program.body) {
    for (const declared of declarationsOf(unwrapExport(statement), module))
      addDeclaration(declarations, ...declared);
    if (statement.type === "ExportAllDeclaration") {
      stars.push(statement.source.value);
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const specifier of statement.specifiers) {
        const outside = nameOf(specifier.exported);
        const local = specifier.type === "ExportSpecifier" ? nameOf(specifier.local) : "*";
        if (statement.source) reexports.set(outside, { specifier: statement.source.value, imported: local });
        else exported.set(outside, local);
      }
    }
  }
  return module;
}

export function unwrapExport(statement: Statement): Node {
  if (statement.type === "ExportNamedDeclaration" && statement.declaration) return statement.declaration;
  return statement.type === "ExportDefaultDeclaration" ? statement.declaration : statement;
}

function* declarationsOf(node: Node, module: SourceModule): Generator<[string, Declaration]> {
  if (node.type === "TSInterfaceDeclaration")
    yield [node.id.name, { kind: "interface", nodes: [node], module }];
  else if (node.type === "TSTypeAliasDeclaration") yield [node.id.name, { kind: "alias", node, module }];
  else if (node.type === "TSEnumDeclaration") yield [node.id.name, { kind: "enum", node, module }];
  else if (node.type === "ClassDeclaration" && node.id) yield [node.id.name, { kind: "class", node, module }];
  else if (node.type === "VariableDeclaration" && node.kind === "const") {
    for (const { id, init } of node.declarations) {
      if (id.type === "Identifier" && init) yield [id.name, { kind: "constant", node: init, module }];
    }
  }
}

/** Adds a declaration. Interfaces of one name are merged; a type replaces a constant of the same name. */
function addDeclaration(declarations: Map<string, Declaration>, name: string, declaration: Declaration) {
  const present = declarations.get(name);
  if (present?.kind === "interface" && declaration.kind === "interface")
    present.nodes.push(...declaration.nodes);
  else if (!present || present.kind === "constant") declarations.set(name, declaration);
}

import type { ExportNamedDeclaration, Identifier, Node, Statement, TSType } from "@babel/types";
import { nameOf, namesUsedAtRunTime, visitNodes, type StaticImport } from "@cem/program";
import { MAX_TYPES_OF_FILE } from "../schemas/create-schema-reader.ts";
import { referenceName, type ModuleLoader } from "../schemas/schema-reader.ts";
import type { FunctionFacts, Link, ModuleFacts, Reexport, Star } from "../source/module-facts.ts";
import { type SourceModule, unwrapExport } from "../source/source-module.ts";
import { readFunction } from "./read-function.ts";
import { annotatedType, exportedFunction, isFunction, type FunctionNode } from "./read-parameters.ts";

export function readModule(module: SourceModule, load: ModuleLoader): ModuleFacts {
  const functions = new Map<string, FunctionFacts>();
  const values = new Set<string>();
  const reexports: Reexport[] = [];
  const stars: Star[] = [];
  const statements = module.ast.program.body;
  const locals = localFunctions(statements, module);
  const budget = { left: MAX_TYPES_OF_FILE };

  const addFunction = (name: string, node: FunctionNode, statement: Node) => {
    // The first overload is the one to show.
    if (!functions.has(name))
      functions.set(name, readFunction({ name, node, statement, module, load, budget }));
  };

  for (const statement of statements) {
    const line = statement.loc?.start.line ?? 1;
    if (statement.type === "ExportAllDeclaration") {
      if (statement.exportKind !== "type") stars.push({ specifier: statement.source.value, line });
    } else if (statement.type === "ExportDefaultDeclaration") {
      const { declaration } = statement;
      const node = exportedFunction(declaration) ?? declaration;
      const own = node.type === "Identifier" ? locals.get(node.name) : undefined;
      if (own !== undefined) addFunction("default", own.node, own.statement);
      else if (isFunction(node)) addFunction("default", node, statement);
      else values.add("default");
    } else if (statement.type === "ExportNamedDeclaration") {
      if (statement.declaration) {
        for (const [name, node] of declaredNames(statement.declaration, module)) {
          if (isFunction(node)) addFunction(name, node, statement);
          else values.add(name);
        }
      } else if (statement.exportKind !== "type") {
        for (const { exported, local } of valueSpecifiers(statement)) {
          const origin = statement.source
            ? { specifier: statement.source.value, imported: local }
            : module.imports.get(local);
          const own = locals.get(local);
          if (origin && origin.imported !== "*") reexports.push({ exported, ...origin, line });
          else if (own && !origin) addFunction(exported, own.node, own.statement);
          else values.add(exported);
        }
      }
    }
  }
  return {
    description: module.comments.ofFile().summary,
    functions: [...functions.values()],
    values: [...values].filter((name) => !functions.has(name)),
    hasOnlyTypes: statements.length > 0 && statements.every((statement) => isTypeStatement(statement)),
    reexports,
    stars,
    links: linksOf(module),
  };
}

/** The imports at run time: names that are only used as types are left out, marked as such or not. */
function linksOf({ links, ast }: SourceModule): Link[] {
  const used = links.length === 0 ? new Set() : namesUsedAtRunTime(ast.program);
  const isType = ({ names, typeOnly }: StaticImport): boolean =>
    typeOnly || (names.length > 0 && names.every((name) => name.typeOnly));
  return links
    .filter((link) => !isType(link))
    .map(({ specifier, line, names }) => ({
      specifier,
      line,
      names: names
        .filter(({ local, typeOnly }) => !typeOnly && (local === undefined || used.has(local)))
        .map(({ imported }) => imported),
    }));
}

function isTypeStatement(statement: Statement): boolean {
  const node = unwrapExport(statement);
  if (node.type === "ImportDeclaration") return true;
  if (node.type === "ExportNamedDeclaration" || node.type === "ExportAllDeclaration")
    return node.exportKind === "type";
  return node.type === "TSInterfaceDeclaration" || node.type === "TSTypeAliasDeclaration";
}

function valueSpecifiers(statement: ExportNamedDeclaration): { exported: string; local: string }[] {
  return statement.specifiers
    .filter((each) => each.type !== "ExportSpecifier" || each.exportKind !== "type")
    .map((each) => ({
      exported: nameOf(each.exported),
      local: each.type === "ExportSpecifier" ? nameOf(each.local) : "*",
    }));
}

function localFunctions(statements: readonly Statement[], module: SourceModule) {
  const locals = new Map<string, { node: FunctionNode; statement: Node }>();
  for (const statement of statements) {
    for (const [name, node] of declaredNames(unwrapExport(statement), module)) {
      if (isFunction(node) && !locals.has(name)) locals.set(name, { node, statement });
    }
  }
  return locals;
}

/** The identifiers that a declaration binds: one, or those of a pattern. */
function namesIn(target: Node): Identifier[] {
  const named = visitNodes(target, ({ type }) => type !== "TSTypeAnnotation");
  const bound = [...named].filter(({ key }) => key !== "key" && key !== "right");
  return bound.flatMap(({ node }) => (node.type === "Identifier" ? [node] : []));
}

/** Reads a type as a function type, even if the file declares it under a name. */
function functionType(type: TSType | undefined, { declarations }: SourceModule): FunctionNode | undefined {
  if (type?.type === "TSFunctionType") return type;
  const name = referenceName(type);
  if (name === undefined || (type && "typeArguments" in type && type.typeArguments)) return undefined;
  const found = declarations.get(name);
  const named = found?.kind === "alias" ? found.node.typeAnnotation : undefined;
  return named?.type === "TSFunctionType" ? named : undefined;
}

function* declaredNames(declaration: Node, module: SourceModule): Generator<[string, Node]> {
  if ("declare" in declaration && declaration.declare === true) return;
  if (declaration.type === "VariableDeclaration") {
    for (const { id, init } of declaration.declarations) {
      const typed =
        id.type === "Identifier" ? functionType(annotatedType(id.typeAnnotation), module) : undefined;
      for (const name of namesIn(id))
        yield [name.name, typed ?? (init && exportedFunction(init)) ?? init ?? name];
    }
  } else if (
    declaration.type === "FunctionDeclaration" ||
    declaration.type === "TSDeclareFunction" ||
    declaration.type === "ClassDeclaration"
  ) {
    if (declaration.id) yield [declaration.id.name, declaration];
  } else if (declaration.type === "TSEnumDeclaration") {
    yield [declaration.id.name, declaration];
  }
}

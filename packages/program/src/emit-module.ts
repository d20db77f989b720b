import { randomInt } from "node:crypto";
import type { ExportDefaultDeclaration, ExportNamedDeclaration, Node, Statement } from "@babel/types";
import type { GuestError } from "@cem/core";
import { isExports, mentionedExport, type MentionedExport } from "./default-export.ts";
import { editSource, emitImports, planImport, type PlannedImport, type SourceEdits } from "./emit-imports.ts";
import { findLastExpression, findMain } from "./export-last-value.ts";
import { locationOf, mayImportInExpression, nameOf } from "./imports.ts";
import type { Program } from "./parse-program.ts";
import { lookUp, patternNames, scopedNodes, type Scope } from "./scopes.ts";
import { isNamed, isTypeOnly, namesUsedAtRunTime, runtimeNodes } from "./syntax-tree.ts";

const UNSUPPORTED: Readonly<Record<string, string>> = {
  TSExportAssignment: "`export =` is not allowed in ES modules. Use `export default`.",
  TSImportEqualsDeclaration: '`import … =` is not allowed in ES modules. Use `import … from "…"`.',
  TSNamespaceExportDeclaration: "`export as namespace` is allowed in declaration files only.",
};
/** Decorators are not supported by any engine yet. */
const NO_DECORATORS =
  "Decorators and `accessor` of classes are not possible here. Use functions, get and set instead.";

/**
 * Finds the first decorator, or statement that is allowed in a module but not in a program, which runs as a function, or
 * that declares an imported name again, which the parser takes for a type's.
 */
export function findUnsupported({ ast, code, imports }: Program): GuestError | undefined {
  const imported = new Set(
    imports.flatMap(({ names, typeOnly }) => names.map((name) => !typeOnly && !name.typeOnly && name.local)),
  );
  for (const outer of ast.program.body) {
    const exported = outer.type === "ExportNamedDeclaration" ? outer.declaration : undefined;
    const statement = exported ?? outer;
    const twice = declaredNames(statement).find((name) => imported.has(name));
    if (twice !== undefined) {
      const message = `'${twice}' has already been declared: it is imported. Give this one another name.`;
      return { name: "SyntaxError", message, ...locationOf(statement) };
    }
    const message = UNSUPPORTED[statement.type];
    if (message !== undefined) return { name: "SyntaxError", message, ...locationOf(statement) };
  }
  if (!/@|\baccessor\b/.test(code)) return undefined;
  for (const { node } of runtimeNodes(ast.program)) {
    if (node.type === "Decorator" || node.type === "ClassAccessorProperty")
      return { name: "SyntaxError", message: NO_DECORATORS, ...locationOf(node) };
  }
  return undefined;
}

function declaredNames(statement: Statement): string[] {
  if (isTypeOnly(statement)) return [];
  if (statement.type === "VariableDeclaration")
    return statement.declarations.flatMap(({ id }) => patternNames(id));
  const { id } = /^(?:Function|Class|TSEnum)Declaration$/.test(statement.type)
    ? (statement as { id?: Node | null })
    : {};
  return id == null ? [] : patternNames(id);
}

/**
 * How a program uses the `module` of CommonJS, where it declares neither that nor `exports`: whether it exports by
 * `module.exports = …` or `exports.name = …`, or only asks whether another module loads it, by `module.parent`.
 */
function commonJsUse({ ast, code }: Program): "exports" | "asks" | undefined {
  if (!/\b(?:exports|parent)\b/.test(code)) return undefined;
  const uses: [use: "exports" | "asks", scope: Scope][] = [];
  for (const { node, scope } of scopedNodes(ast.program)) {
    if (node.type === "AssignmentExpression" && isExports(node.left)) uses.push(["exports", scope]);
    if (
      node.type === "MemberExpression" &&
      isNamed(node.object, "module") &&
      isNamed(node.property, "parent")
    )
      uses.push(["asks", scope]);
  }
  const meant = uses.flatMap(([use, scope]) =>
    (lookUp(scope, "module") ?? lookUp(scope, "exports")) === undefined ? [use] : [],
  );
  return meant.includes("exports") ? "exports" : meant[0];
}

interface Emitter {
  program: Program;
  edits: SourceEdits;
  /** The imports that are needed at run time, in order. */
  imports: PlannedImport[];
  /** The names that the program refers to at run time. */
  used: ReadonlySet<string>;
  /** The name of the emitted function's parameter. */
  runtime: string;
  epilogue: string[];
  /** Variables that are exported by name, as members of an object. */
  named: string[];
  /** The variables that the program declares at its top level. */
  variables: ReadonlySet<string>;
}

/** Emits the module for a parsed program: an arrow function, so that `arguments` can't expose its parameter. */
export function emitModule(
  program: Program,
): { ok: true; source: string } | { ok: false; error: GuestError } {
  const error = findUnsupported(program);
  if (error !== undefined) return { ok: false, error };
  const { code, ast } = program;
  const runtime = unusedName(code);
  const emitter: Emitter = {
    program,
    edits: editSource(code),
    imports: [],
    used: namesUsedAtRunTime(ast.program),
    runtime,
    epilogue: [],
    named: [],
    variables: new Set(
      ast.program.body.flatMap((own) => (own.type === "VariableDeclaration" ? declaredNames(own) : [])),
    ),
  };
  const mentioned = mentionedExport(program);
  if (mentioned !== undefined) emitMarks(mentioned, emitter);
  for (const statement of ast.program.body) emitStatement(statement, emitter);
  emitExpressions(program, emitter);
  const beginning = emitLastExpression(program, emitter);
  if (emitter.named.length > 0) emitter.epilogue.push(`;${runtime}.named={${emitter.named.join(",")}};`);
  const main = findMain(program);
  if (main !== undefined) emitter.epilogue.push(`;${runtime}.default ??= ${main};`);
  // A hashbang is valid only at the start of a file.
  if (code.startsWith("#!")) emitter.edits.overwrite(0, 2, "//");
  let own = mentioned === undefined ? "" : opensMentioned(mentioned, runtime);
  const commonJs = commonJsUse(program);
  if (commonJs !== undefined)
    own += "const module = { exports: {}, parent: null }; const { exports } = module;";
  if (commonJs === "exports") emitter.epilogue.push(`;${runtime}.module=module;`);
  const imports = emitImports(emitter.imports, runtime);
  const opening = `export default async (${runtime}) => { ${own}${imports}${beginning}`;
  const closing = [...emitter.epilogue, "}"].join("\n");
  return { ok: true, source: `${opening}\n${emitter.edits.toString()}\n${closing}\n` };
}

/** Emits the flags of a mentioned export. Where the text does not show the exported function, it counts as run from the start. */
function opensMentioned({ functions, isCalled }: MentionedExport, runtime: string): string {
  const isShown = functions.size > 0 && (!isCalled || [...functions.values()].includes(true));
  return `${runtime}.isMentioned=true;${isShown ? "" : `${runtime}.ran="${isCalled ? "whole" : "part"}";`}`;
}

/**
 * Makes the functions of an export set a mark when they run. The insertions come before all others, so that what ends where a
 * function ends stays behind it.
 */
function emitMarks({ functions, isCalled }: MentionedExport, { edits, runtime }: Emitter): void {
  for (const [{ body, end }, isWhole] of functions) {
    const mark = `${runtime}.ran${isWhole || isCalled ? '="whole"' : '??="part"'}`;
    if (body.type === "BlockStatement") {
      edits.insert((body.start ?? 0) + 1, `${mark};`);
      continue;
    }
    edits.insert((body.extra?.["parenStart"] as number | undefined) ?? body.start ?? 0, `(${mark},`);
    edits.insert(end ?? 0, ")");
  }
}

/**
 * Assigns the value of the last expression. A function that is the whole program is called, like a default export. The
 * assignment is inserted at the end of the previous statement, so that the columns of the expression's lines are kept.
 *
 * @returns the text for the end of the line before the program, if there is no previous statement.
 */
function emitLastExpression(program: Program, { edits, runtime }: Emitter): string {
  const last = findLastExpression(program);
  if (last === undefined) return "";
  const { statement, after, isMain } = last;
  let opening = `;${runtime}.${isMain ? "default" : "last"}=`;
  if (statement.type === "ExpressionStatement") {
    const { expression } = statement;
    if (expression.type === "SequenceExpression" && expression.start === statement.start) {
      opening += "(";
      edits.insert(expression.end ?? 0, ")");
    }
  }
  if (after === 0) return opening;
  edits.insert(after, opening);
  return "";
}

/** Chooses `$cem`, or an unguessable name if the program may contain that one, perhaps with escapes: none may access it. */
function unusedName(code: string): string {
  return /\$cem|\\u/.test(code) ? `$cem${randomInt(2 ** 47)}` : "$cem";
}

function emitStatement(statement: Statement, emitter: Emitter): void {
  const { edits } = emitter;
  switch (statement.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
      addImport(statement, emitter);
      return remove(statement, edits);
    case "ExportNamedDeclaration":
      return emitNamedExport(statement, emitter);
    case "ExportDefaultDeclaration":
      return emitDefaultExport(statement, emitter);
    default:
      if (isDeclaredOnly(statement)) remove(statement, edits);
  }
}

/** Whether a statement starts with `declare`. Interfaces and type aliases can stay: the runtime removes them. */
function isDeclaredOnly(statement: Statement): boolean {
  return "declare" in statement && statement.declare === true;
}

function remove(node: Node, edits: SourceEdits): void {
  // The semicolon separates the statements before and after.
  edits.overwrite(node.start ?? 0, node.end ?? 0, ";");
}

/** @returns the variable of the value that is re-exported as `default`, if any. */
function addImport(declaration: Parameters<typeof planImport>[0], { imports, used, runtime }: Emitter) {
  const ofDefault = `${runtime}d`;
  const planned = planImport(declaration, used, ofDefault);
  if (planned === undefined) return undefined;
  imports.push(planned);
  return planned.names.some(({ local }) => local === ofDefault) ? ofDefault : undefined;
}

function emitNamedExport(statement: ExportNamedDeclaration, emitter: Emitter): void {
  const { declaration } = statement;
  if (declaration != null) {
    if (isDeclaredOnly(declaration)) {
      emitStatement(declaration, emitter);
      return emitter.edits.overwrite(statement.start ?? 0, declaration.start ?? 0);
    }
    if (declaration.type === "VariableDeclaration")
      for (const { id } of declaration.declarations)
        for (const name of patternNames(id)) emitter.named.push(name);
    return emitter.edits.overwrite(statement.start ?? 0, declaration.start ?? 0, ";");
  }
  if (statement.source != null) {
    const ofDefault = addImport(statement, emitter);
    if (ofDefault !== undefined) emitter.epilogue.push(`;${emitter.runtime}.default=${ofDefault};`);
  } else if (statement.exportKind !== "type") {
    for (const specifier of statement.specifiers) {
      if (specifier.type !== "ExportSpecifier" || specifier.exportKind === "type") continue;
      const local = nameOf(specifier.local);
      const name = nameOf(specifier.exported);
      if (name === "default") emitter.epilogue.push(`;${emitter.runtime}.default=${local};`);
      else if (emitter.variables.has(local)) emitter.named.push(`${JSON.stringify(name)}:${local}`);
    }
  }
  remove(statement, emitter.edits);
}

function emitDefaultExport(statement: ExportDefaultDeclaration, emitter: Emitter): void {
  const { declaration } = statement;
  const { edits, runtime } = emitter;
  const start = statement.start ?? 0;
  const declarationStart = declaration.start ?? 0;
  if (isTypeOnly(declaration)) {
    if (declaration.type === "TSDeclareFunction") return remove(statement, edits);
    return edits.overwrite(start, declarationStart, ";");
  }
  const declares = declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration";
  const isAbstract = declaration.type === "ClassDeclaration" && declaration.abstract === true;
  if (declares && (declaration.id != null || isAbstract)) {
    const name = declaration.id?.name ?? `${runtime}c`;
    edits.overwrite(start, declarationStart, ";");
    // An abstract class can't be an expression, so it gets a name.
    if (declaration.id == null) {
      const keyword = emitter.program.code.indexOf("class", declarationStart + "abstract".length);
      edits.insert(keyword + "class".length, ` ${name}`);
    }
    edits.insert(statement.end ?? 0, `;${runtime}.default=${name};`);
    return;
  }
  const parenStart = declaration.extra?.["parenStart"] as number | undefined;
  edits.overwrite(start, parenStart ?? declarationStart, `;${runtime}.default=`);
  edits.insert(statement.end ?? 0, ";");
}

/** Redirects `import.meta` and `import(…)` to the function's parameter. */
function emitExpressions(program: Program, { edits, runtime }: Emitter): void {
  if (!mayImportInExpression(program.code)) return;
  for (const { node } of runtimeNodes(program.ast.program)) {
    if (node.type === "MetaProperty" && node.meta.name === "import") {
      edits.overwrite(node.start ?? 0, node.end ?? 0, `${runtime}.meta`);
    } else if (node.type === "ImportExpression") {
      edits.overwrite(node.start ?? 0, (node.start ?? 0) + "import".length, `${runtime}.load`);
    }
  }
}

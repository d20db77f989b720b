import type { File, Node, Program as ProgramNode, Statement } from "@babel/types";
import { nameOf } from "./imports.ts";
import type { Program } from "./parse-program.ts";
import { patternNames } from "./scopes.ts";
import { isLabel, isNamed, isTypeOnly, runtimeNodes, visitNodes, type NodeVisit } from "./syntax-tree.ts";

export const FUNCTION = /(?:Function(?:Declaration|Expression)|Method)$/;
/** Nodes whose parts may not run although they do. */
const CONDITIONAL =
  /^(?:(?:If|For(?:In|Of)?|While|DoWhile|Switch|Try)Statement|(?:Conditional|Logical)Expression)$/;

/** A node with a body that runs when something calls it. */
export type FunctionNode = Node & { params: Node[]; body: Node };

/** A default export that the program mentions elsewhere, or makes of functions by a call, so that it may run it itself. */
export interface MentionedExport {
  /** The functions that the export is made of, and whether each of them is the export itself. */
  functions: Map<FunctionNode, boolean>;
  /** Whether code at the top level calls it. */
  isCalled: boolean;
}

type Source = Pick<Program, "ast" | "code">;

const known = new WeakMap<File, MentionedExport | undefined>();

export function mentionedExport(program: Source): MentionedExport | undefined {
  if (!known.has(program.ast)) known.set(program.ast, findMentionedExport(program));
  return known.get(program.ast);
}

function findMentionedExport({ ast: { program }, code }: Source): MentionedExport | undefined {
  const exported = program.body.flatMap((statement) => defaultExport(statement) ?? []);
  const isCommonJs = /\bmodule\.exports\b/.test(code);
  if (!isCommonJs && exported.every((node) => isFunctionNode(withoutCasts(node)))) return undefined;
  const values = valuesByName(program);
  if (isCommonJs) for (const value of values.get("module") ?? []) exported.push(value);
  if (exported.length === 0) return undefined;
  const { names, parts, functions } = partsOf(exported, values);
  if (isCommonJs) names.add("module");
  let isMentioned = [...parts].some(isGivenFunctions);
  for (const visit of visitNodes(program, (node) => !parts.has(node) && !isTypeOnly(node))) {
    const { node } = visit;
    isMentioned ||= node.type === "Identifier" && names.has(node.name) && !isLabel(visit) && !isTarget(visit);
  }
  if (!isMentioned) return undefined;
  const textOf = (node: Node): string => code.slice(node.start ?? 0, node.end ?? 0);
  const callees = new Set(exported.map(textOf)).add("module.exports");
  let isCalled = false;
  for (const { node } of visitNodes(program, ({ type }) => !FUNCTION.test(type) && !CONDITIONAL.test(type)))
    isCalled ||= "callee" in node && callees.has(textOf(withoutCasts(node.callee)));
  return { functions, isCalled };
}

/** Returns what a statement exports as default; `undefined` for a value without a name. */
export function defaultExport(statement: Statement): Node | undefined {
  if (statement.type === "ExportDefaultDeclaration") {
    const { declaration } = statement;
    if (isTypeOnly(declaration)) return undefined;
    const { id } = declaration.type.endsWith("Declaration") ? (declaration as { id?: Node | null }) : {};
    return id ?? declaration;
  }
  if (statement.type !== "ExportNamedDeclaration") return undefined;
  const found = statement.specifiers.find(({ exported }) => nameOf(exported) === "default");
  return found?.type === "ExportSpecifier" && statement.source == null ? found.local : found;
}

/** The values of the program's own variables, functions and classes by name, and those of `module.exports` under `module`. */
function valuesByName(program: ProgramNode): Map<string, Node[]> {
  const values = new Map<string, Node[]>();
  const add = (name: string, value: Node): void => {
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  };
  for (const statement of program.body) {
    const own = "declaration" in statement ? (statement.declaration ?? statement) : statement;
    if ((own.type === "FunctionDeclaration" || own.type === "ClassDeclaration") && own.id != null)
      add(own.id.name, own);
    if (own.type !== "VariableDeclaration") continue;
    for (const { id, init } of own.declarations) {
      if (init == null) continue;
      const value = withoutCasts(init);
      for (const name of patternNames(id)) add(name, value);
    }
  }
  for (const { node } of runtimeNodes(program)) {
    if (node.type !== "AssignmentExpression" || node.operator !== "=") continue;
    if (node.left.type === "Identifier") add(node.left.name, withoutCasts(node.right));
    if (isModuleExports(node.left)) add("module", withoutCasts(node.right));
  }
  return values;
}

/** The names and values that an export is made of, and the functions among these. */
function partsOf(exported: readonly Node[], values: ReadonlyMap<string, readonly Node[]>) {
  const names = new Set<string>();
  const functions = new Map<FunctionNode, boolean>();
  const parts = new Set(exported.map(withoutCasts));
  const wholes = new Set(parts);
  /** Nodes that were visited, since parts may contain others, and children of functions: these run later. */
  const done = new Set<Node>();
  for (const root of parts) {
    const isWhole = wholes.has(root);
    for (const visit of visitNodes(root, (node) => !done.has(node) && !isTypeOnly(node))) {
      const { node, key } = visit;
      done.add(node);
      if (isFunctionNode(node)) {
        // A function that is called to make the export has run by then.
        if (key !== "callee") functions.set(node, node === root && isWhole);
        for (const child of [...node.params, node.body]) done.add(child);
      }
      if (node.type !== "Identifier" || key === "callee" || names.has(node.name) || isLabel(visit)) continue;
      names.add(node.name);
      for (const value of values.get(node.name) ?? []) {
        if (isWhole && node === root) wholes.add(value);
        parts.add(value);
      }
    }
  }
  return { names, parts, functions };
}

/** Whether a name is declared, assigned to or exported where it stands. */
function isTarget({ parent, key }: NodeVisit): boolean {
  if (parent === undefined) return false;
  if (parent.type === "ExportSpecifier" || parent.type.startsWith("Import")) return true;
  if (key === "id" || key === "params" || key === "param") return true;
  return key === "left" && parent.type === "AssignmentExpression";
}

/** Whether it calls a function with others, which that may run, or keep for the program to run. */
function isGivenFunctions(node: Node): boolean {
  return (
    node.type === "CallExpression" && node.callee.type === "Identifier" && node.arguments.some(isFunctionNode)
  );
}

function isFunctionNode(node: Node): node is FunctionNode {
  return FUNCTION.test(node.type) && "body" in node;
}

function withoutCasts(node: Node): Node {
  let at = node;
  while (at.type.startsWith("TS") && "expression" in at && typeof at.expression === "object")
    at = at.expression as Node;
  return at;
}

function isModuleExports(node: Node): boolean {
  return (
    node.type === "MemberExpression" && isNamed(node.object, "module") && isNamed(node.property, "exports")
  );
}

/** Whether it is `module.exports`, or a member of it or of `exports`. */
export function isExports(target: Node): boolean {
  for (let at = target; at.type === "MemberExpression"; at = at.object) {
    if (isNamed(at.object, "exports") || isModuleExports(at)) return true;
  }
  return false;
}

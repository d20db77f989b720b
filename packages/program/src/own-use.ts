import type { File, Node, Statement } from "@babel/types";
import { nameOf } from "./imports.ts";
import type { Program } from "./parse-program.ts";
import { lookUp, refersToVariable, scopedNodes } from "./scopes.ts";
import type { Binding, ScopedNode, ScopedVisit } from "./scopes.ts";
import { isNamed, isTypeOnly, visitNodes } from "./syntax-tree.ts";

export const FUNCTION = /(?:Function(?:Declaration|Expression)|Method)$/;
const CALL = /^(?:Optional)?CallExpression$/;
/** Members of a function that lead to a call of it. */
const CALLERS = /^(?:call|apply|bind)$/;

/** A use that a program itself makes of what it exports. */
export interface OwnUse {
  /** The line of a use that may be a call; 0 if one is a call for certain. */
  line: number;
  /** Whether the export is a function for certain. */
  isFunction: boolean;
}

/** A name in the program's code. */
interface Reference extends ScopedVisit {
  name: string;
  /** Whether it stands in a function. */
  isInside: boolean;
}

/** The names of a program, and what it exports. */
interface Names {
  exported: ScopedNode[];
  /** By the function in which they stand, if that runs only where its own name is used. */
  references: Map<Node | undefined, Reference[]>;
  callees: Set<Node>;
}

const known = new WeakMap<File, OwnUse | undefined>();

/**
 * Finds how a program uses itself what it exports. If that is a function, another call could repeat its work. Uses in a
 * declared function count only if code that runs mentions that function.
 */
export function ownUse(program: Pick<Program, "ast" | "code">): OwnUse | undefined {
  if (!known.has(program.ast)) known.set(program.ast, findOwnUse(program));
  return known.get(program.ast);
}

function findOwnUse({ ast: { program }, code }: Pick<Program, "ast" | "code">): OwnUse | undefined {
  const names: Names = { exported: [], references: new Map(), callees: new Set() };
  const nodes = program.body.flatMap((statement) => defaultExport(statement) ?? []);
  if (nodes.every(isFunction) && !/\bexports\b/.test(code)) return undefined;
  readNames(program, nodes, names);
  const { exported, references, callees } = names;
  const made = partsOf(exported);
  const isKnown =
    exported.every(({ node }) => node.type === "Identifier") &&
    [...made.bindings.keys()].every(
      ({ values }) => values.length > 0 && values.every(({ node }) => isFunction(node)),
    );
  const textOf = ({ start, end }: Node): string => code.slice(start ?? 0, end ?? 0);
  const members = new Set(made.members.map(textOf));
  if (exported.length > 0 && [...callees].some(isModuleExports)) return { line: 0, isFunction: isKnown };

  let line: number | undefined;
  const reached = new Set<Node | undefined>([undefined]);
  const mentioned = new Set<Binding>();
  for (const holder of reached) {
    for (const { node, parent, key, scope, name, isInside } of references.get(holder) ?? []) {
      const binding = lookUp(scope, name);
      if (binding === undefined || made.nodes.has(node)) continue;
      if (!made.bindings.has(binding)) {
        if (!mentioned.has(binding))
          for (const value of binding.values) reached.add(withoutCasts(value.node));
        mentioned.add(binding);
        continue;
      }
      if (isKnown && readsOnly(parent, key)) continue;
      const member = key === "object" ? parent : undefined;
      const isPath = member !== undefined && callees.has(member) && members.has(textOf(member));
      const isCall = callees.has(node) && made.bindings.get(binding) === true;
      if (!isInside && (isCall || isPath)) return { line: 0, isFunction: isKnown };
      line ??= node.loc?.start.line;
    }
  }
  return line === undefined ? undefined : { line, isFunction: isKnown };
}

/** What a statement exports as default; `undefined` for a value without a name. */
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

function readNames(program: Node, nodes: readonly Node[], names: Names): void {
  const { exported, references, callees } = names;
  /** Functions that run only where their names are used. */
  const declared = new Set<Node>();
  /** Names that are assigned to. */
  const targets = new Set<Node>();
  const places = new Map<Node | undefined, { holder: Node | undefined; isInside: boolean }>();
  for (const visit of scopedNodes(program)) {
    const { node, parent, scope } = visit;
    if (node.type === "Program") exported.push(...nodes.map((own) => ({ node: withoutCasts(own), scope })));
    if (node.type === "FunctionDeclaration") declared.add(node);
    if (node.type === "VariableDeclarator" && node.init != null) declared.add(withoutCasts(node.init));
    if (node.type === "AssignmentExpression" && node.operator === "=") targets.add(node.left);
    if (node.type === "AssignmentPattern") targets.add(node.left);
    if (node.type === "ObjectProperty" && parent?.type === "ObjectPattern") targets.add(node.value);
    if (CALL.test(node.type) && "callee" in node) callees.add(withoutCasts(node.callee));
    if (node.type === "AssignmentExpression" && isModuleExports(node.left))
      exported.push({ node: withoutCasts(node.right), scope });
    const outer = places.get(parent);
    const isHolder = FUNCTION.test(node.type) && declared.has(node);
    const place = {
      holder: outer?.holder ?? (isHolder ? node : undefined),
      isInside: outer?.isInside === true || FUNCTION.test(node.type),
    };
    places.set(node, place);
    if (node.type !== "Identifier" || targets.has(node) || !refersToVariable(visit)) continue;
    if (visit.key === "right" && parent?.type === "AssignmentExpression" && isExports(parent.left)) continue;
    const own = references.get(place.holder) ?? [];
    references.set(place.holder, own);
    own.push({ ...visit, name: node.name, isInside: place.isInside });
  }
}

/** The variables and the nodes that an export is made of. Functions of it count as nodes only: they have not run. */
function partsOf(exported: readonly ScopedNode[]) {
  /** Whether each node lies in a function. */
  const nodes = new Map<Node, boolean>();
  /** Whether each variable holds the export itself. */
  const bindings = new Map<Binding, boolean>();
  /** Members that are the export itself. */
  const members: Node[] = [];
  const pending = exported.map((own) => ({ ...own, isSame: true }));
  for (const { node: root, scope, isSame } of pending) {
    for (const visit of visitNodes(root, (node) => !nodes.has(node) && !isTypeOnly(node))) {
      const { node, parent, key } = visit;
      const isInside = FUNCTION.test(node.type) || (parent !== undefined && nodes.get(parent) === true);
      nodes.set(node, isInside);
      if (isInside) continue;
      const isRoot = isSame && parent === undefined;
      if (isRoot && node.type === "MemberExpression") members.push(node);
      if (node.type !== "Identifier" || key === "callee") continue;
      const binding = parent === undefined || refersToVariable(visit) ? lookUp(scope, node.name) : undefined;
      if (binding === undefined || bindings.has(binding)) continue;
      bindings.set(binding, isRoot);
      for (const value of binding.values)
        pending.push({ node: withoutCasts(value.node), scope: value.scope, isSame: isRoot });
    }
  }
  return { nodes, bindings, members };
}

/** Whether it reads or sets a property of a function, or asks for its type. */
function readsOnly(parent: Node | undefined, key: string): boolean {
  if (parent?.type === "UnaryExpression") return true;
  if (key !== "object" || parent === undefined || !("property" in parent)) return false;
  return parent.property.type === "Identifier" && !CALLERS.test(parent.property.name);
}

function isFunction(node: Node): boolean {
  return FUNCTION.test(withoutCasts(node).type);
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

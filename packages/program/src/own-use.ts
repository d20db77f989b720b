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

/** Where a node runs only under a condition: the type of its parent, and the parent's property. */
const BRANCH =
  /^(?:(?:IfStatement|ConditionalExpression)\.(?:consequent|alternate)|LogicalExpression\.right|SwitchCase\.consequent|CatchClause\.body|(?:For(?:In|Of)?|While)Statement\.body)$/;

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
  /** Whether it runs whenever the program does: it stands neither in a function nor under a condition. */
  isCertain: boolean;
}

type Runs = "always" | "maybe" | "never";

interface Place {
  /** The function in which it stands, if that runs only where its own name is used. */
  holder: Node | undefined;
  isInside: boolean;
  runs: Runs;
  /** The end of the code that the program does not run if it throws here: 0 if nothing catches that, so that the run fails. */
  skipsTo: number;
}

/** The names of a program, and what it exports. */
interface Names {
  exported: ScopedNode[];
  /** By the function in which they stand, if that runs only where its own name is used. */
  references: Map<Node | undefined, Reference[]>;
  /** The callees of calls, and whether each call is certain. */
  callees: Map<Node, boolean>;
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
  const names: Names = { exported: [], references: new Map(), callees: new Map() };
  const nodes = program.body.flatMap((statement) => defaultExport(statement) ?? []);
  if (nodes.every(isFunction) && !/\bexports\b/.test(code)) return undefined;
  const textOf = ({ start, end }: Node): string => code.slice(start ?? 0, end ?? 0);
  readNames(program, nodes, names, textOf);
  const { exported, references, callees } = names;
  const made = partsOf(exported);
  const isKnown =
    exported.every(({ node }) => node.type === "Identifier") &&
    [...made.bindings.keys()].every(
      ({ values }) => values.length > 0 && values.every(({ node }) => isFunction(node)),
    );
  const members = new Set(made.members.map(textOf));
  let line: number | undefined;
  for (const [callee, isCertain] of exported.length > 0 ? callees : []) {
    if (!isModuleExports(callee)) continue;
    if (isCertain) return { line: 0, isFunction: isKnown };
    line ??= callee.loc?.start.line;
  }
  const reached = new Set<Node | undefined>([undefined]);
  const mentioned = new Set<Binding>();
  for (const holder of reached) {
    for (const { node, parent, key, scope, name, isCertain } of references.get(holder) ?? []) {
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
      if (isCertain && (isCall || isPath)) return { line: 0, isFunction: isKnown };
      line ??= node.loc?.start.line;
    }
  }
  return line === undefined ? undefined : { line, isFunction: isKnown };
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

function readNames(
  program: Node,
  nodes: readonly Node[],
  names: Names,
  textOf: (node: Node) => string,
): void {
  const { exported, references, callees } = names;
  /** Functions that run only where their names are used. */
  const declared = new Set<Node>();
  /** Names that are assigned to. */
  const targets = new Set<Node>();
  const places = new Map<Node | undefined, Place>();
  /** Code from the first, which a `return` may have ended, and code up to the second, which a `throw` may have skipped. */
  let mayHaveEnded = Infinity;
  let mayBeSkipped = 0;
  for (const visit of scopedNodes(program)) {
    const { node, parent, scope } = visit;
    if (node.type === "Program") exported.push(...nodes.map((own) => ({ node: withoutCasts(own), scope })));
    if (node.type === "FunctionDeclaration") declared.add(node);
    if (node.type === "VariableDeclarator" && node.init != null) declared.add(withoutCasts(node.init));
    if (node.type === "AssignmentExpression" && node.operator === "=") targets.add(node.left);
    if (node.type === "AssignmentPattern") targets.add(node.left);
    if (node.type === "ObjectProperty" && parent?.type === "ObjectPattern") targets.add(node.value);
    if (node.type === "AssignmentExpression" && isModuleExports(node.left))
      exported.push({ node: withoutCasts(node.right), scope });
    const outer = places.get(parent);
    const isHolder = FUNCTION.test(node.type) && declared.has(node);
    const place: Place = {
      holder: outer?.holder ?? (isHolder ? node : undefined),
      isInside: outer?.isInside === true || FUNCTION.test(node.type),
      runs: outer === undefined ? "always" : runsBelow(outer.runs, visit, textOf),
      skipsTo: isGuarded(visit) ? (node.end ?? 0) : (outer?.skipsTo ?? 0),
    };
    places.set(node, place);
    const { isInside, runs, skipsTo } = place;
    if (runs === "never") continue;
    if (!isInside && node.type === "ReturnStatement") mayHaveEnded = Math.min(mayHaveEnded, node.end ?? 0);
    if (!isInside && node.type === "ThrowStatement") mayBeSkipped = Math.max(mayBeSkipped, skipsTo);
    const start = node.start ?? 0;
    const isCertain = !isInside && runs === "always" && start < mayHaveEnded && start >= mayBeSkipped;
    if (CALL.test(node.type) && "callee" in node) callees.set(withoutCasts(node.callee), isCertain);
    if (node.type !== "Identifier" || targets.has(node) || !refersToVariable(visit)) continue;
    if (visit.key === "right" && parent?.type === "AssignmentExpression" && isExports(parent.left)) continue;
    const own = references.get(place.holder) ?? [];
    references.set(place.holder, own);
    own.push({ ...visit, name: node.name, isCertain });
  }
}

/** How a node runs, given how its parent does. */
function runsBelow(outer: Runs, { parent, key }: ScopedVisit, textOf: (node: Node) => string): Runs {
  if (parent === undefined || outer === "never" || !BRANCH.test(`${parent.type}.${key}`)) return outer;
  let test: Node | undefined;
  if (key === "consequent" && "test" in parent) test = parent.test ?? undefined;
  if (parent.type === "LogicalExpression" && parent.operator === "&&") test = parent.left;
  if (test === undefined || parent.type === "SwitchCase") return "maybe";
  if (textOf(test) === "import.meta.main") return outer;
  const parts =
    test.type === "LogicalExpression" && test.operator === "&&" ? [test.left, test.right] : [test];
  return parts.some((part) => asksNode(part, textOf)) ? "never" : "maybe";
}

/** Whether it is the block of a `try` that catches. */
function isGuarded({ parent, key }: ScopedVisit): boolean {
  return key === "block" && parent?.type === "TryStatement" && parent.handler != null;
}

/** Whether a condition holds only in a file that Node was started with, which a program never is: it runs in a guest. */
function asksNode(test: Node, textOf: (node: Node) => string): boolean {
  if (test.type !== "BinaryExpression" || !/^===?$/.test(test.operator)) return false;
  const text = textOf(test);
  if (/\brequire\.main\b/.test(text)) return /\bmodule\b/.test(text);
  return /\bimport\.meta\.(?:url|filename)\b/.test(text) && text.includes("argv[1]");
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

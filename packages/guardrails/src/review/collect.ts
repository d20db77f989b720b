import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import { locationOf, nameOf } from "@cem/program";
import { createScope, declare, forEachChild, functionScope, lookUp } from "./scopes.ts";
import type { Binding, Scope, ScopedNode } from "./scopes.ts";

/** Collects findings, each rule at most once on a line and for a message. */
export class Report {
  readonly findings: Finding[] = [];
  readonly #seen = new Set<string>();

  add(node: Node, finding: Omit<Finding, "line" | "column">): void {
    const place = locationOf(node);
    const key = `${place.line} ${finding.rule} ${finding.message}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.findings.push({ ...finding, ...place });
  }
}

/** The most values that one name in a pattern is given: those of the defaults around it. */
const MAX_PATTERN_VALUES = 8;

/** A node with what surrounds it. */
export interface Visit extends ScopedNode {
  parent: Node | undefined;
  /** The parent's property that holds the node. */
  key: string;
}

/** The parts of a program that rules look at. All are collected in one walk of its tree. */
export interface ProgramParts {
  /** The length of the program's text. */
  length: number;
  /** Names that refer to a variable or a global. */
  references: Visit[];
  members: Visit[];
  /** Calls, `new` and tagged templates. */
  calls: Visit[];
  loops: Visit[];
  /** Texts, also those that are put together. */
  texts: Visit[];
  /** Declared and assigned destructuring patterns. */
  patterns: Visit[];
  /** `import(…)` expressions. */
  dynamicImports: Visit[];
  assignments: Visit[];
  /** Arguments of immediately invoked functions. */
  given: Map<Node, readonly ScopedNode[]>;
  /** All names that the program declares. */
  bindings: readonly Binding[];
}

const FUNCTION = /Function(?:Expression|Declaration)$|Method$/;
const BLOCK =
  /^(?:BlockStatement|For\w*Statement|CatchClause|SwitchStatement|StaticBlock|Class\w+|TSModuleBlock)$/;

/** Walks the tree once, iteratively, and sorts what rules look at. */
export function collectParts(root: Node): ProgramParts {
  const top = createScope(undefined, true);
  const parts: ProgramParts = {
    length: root.end ?? 0,
    references: [],
    members: [],
    calls: [],
    loops: [],
    texts: [],
    patterns: [],
    dynamicImports: [],
    assignments: [],
    given: new Map(),
    bindings: top.all,
  };
  const pending: Visit[] = [{ node: root, parent: undefined, key: "", scope: top }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { node } = visit;
    const scope = scopeOf(node, visit.scope, parts);
    sort(visit, scope, parts);
    forEachChild(node, (child, key) => void pending.push({ node: child, parent: node, key, scope }));
  }
  // The innermost first: what is read in this order is never deep.
  for (const { node, scope } of parts.assignments.toReversed()) {
    if (node.type === "AssignmentExpression") bindPattern(node.left, [{ node: node.right, scope }], assignTo);
  }
  return parts;
}

function scopeOf(node: Node, outer: Scope, { given }: ProgramParts): Scope {
  const { type } = node;
  if (type === "Program" || FUNCTION.test(type)) {
    const scope = type === "Program" ? outer : createScope(outer, true);
    if ("params" in node && Array.isArray(node.params)) {
      const values = given.get(node);
      for (const [at, parameter] of (node.params as Node[]).entries()) {
        const value = values?.[at];
        bindPattern(parameter, value === undefined ? [] : [value], declareIn(scope));
      }
    }
    if (type === "FunctionExpression" && node.id != null)
      declare(scope, node.id.name).values.push({ node, scope });
    return scope;
  }
  return BLOCK.test(type) ? createScope(outer, false) : outer;
}

function sort(visit: Visit, inner: Scope, parts: ProgramParts): void {
  const { node, scope } = visit;
  switch (node.type) {
    case "Identifier":
      if (refersToVariable(visit)) parts.references.push(visit);
      break;
    case "MemberExpression":
    case "OptionalMemberExpression":
      parts.members.push(visit);
      break;
    case "CallExpression":
    case "OptionalCallExpression":
    case "NewExpression":
    case "TaggedTemplateExpression":
      parts.calls.push(visit);
      if (node.type === "CallExpression" && FUNCTION.test(calledFunction(node.callee).type)) {
        const values = node.arguments.map((argument) => ({ node: argument, scope }));
        parts.given.set(calledFunction(node.callee), values);
      }
      break;
    case "WhileStatement":
    case "DoWhileStatement":
    case "ForStatement":
      parts.loops.push({ ...visit, scope: inner });
      break;
    case "StringLiteral":
    case "TemplateLiteral":
      parts.texts.push(visit);
      break;
    case "BinaryExpression":
      if (node.operator === "+" && visit.parent?.type !== "BinaryExpression") parts.texts.push(visit);
      break;
    case "ImportExpression":
      parts.dynamicImports.push(visit);
      break;
    case "ObjectPattern":
      parts.patterns.push(visit);
      break;
    case "AssignmentExpression":
      parts.assignments.push(visit);
      break;
    case "VariableDeclaration": {
      const target = declareIn(node.kind === "var" ? functionScope(scope) : scope);
      for (const { id, init } of node.declarations) {
        bindPattern(id, init == null ? [] : [{ node: init, scope }], target);
      }
      break;
    }
    case "FunctionDeclaration":
    case "ClassDeclaration":
      if (node.id != null) declare(scope, node.id.name).values.push({ node, scope });
      break;
    case "CatchClause":
      if (node.param != null) bindPattern(node.param, [], declareIn(inner));
      break;
    case "ImportDeclaration":
      for (const specifier of node.specifiers) {
        const name =
          specifier.type === "ImportSpecifier"
            ? nameOf(specifier.imported)
            : specifier.type === "ImportDefaultSpecifier"
              ? "default"
              : "*";
        declare(scope, specifier.local.name).imported = { specifier: node.source.value, name };
      }
      break;
    default:
  }
}

/** The function that is called where it stands, without parentheses around it. */
function calledFunction(callee: Node): Node {
  return callee.type === "ParenthesizedExpression" ? callee.expression : callee;
}

type Bind = (name: string, values: readonly ScopedNode[]) => void;

function declareIn(scope: Scope): Bind {
  return (name, values) => void declare(scope, name).values.push(...values);
}

const assignTo: Bind = (name, values) => {
  for (const value of values) lookUp(value.scope, name)?.values.push(value);
};

/** Gives each name in a pattern the parts of the values that it takes. */
function bindPattern(pattern: Node, values: readonly ScopedNode[], bind: Bind): void {
  switch (pattern.type) {
    case "Identifier":
      bind(pattern.name, values);
      break;
    case "AssignmentPattern":
      bindPattern(pattern.left, withDefault(values, pattern.right), bind);
      break;
    case "RestElement":
      bindPattern(pattern.argument, values, bind);
      break;
    case "TSParameterProperty":
      bindPattern(pattern.parameter, values, bind);
      break;
    case "ArrayPattern":
      for (const [at, element] of pattern.elements.entries()) {
        if (element === null) continue;
        const taken = values.flatMap((value) => elementOf(value, at));
        bindPattern(element, taken, bind);
      }
      break;
    case "ObjectPattern":
      for (const property of pattern.properties) {
        if (property.type === "RestElement") {
          bindPattern(property.argument, values, bind);
          continue;
        }
        const taken = values.map((value) => memberOf(value, property));
        bindPattern(property.value, taken, bind);
      }
      break;
    default:
  }
}

/** The default counts where something is known of the value that it stands in for. */
function withDefault(values: readonly ScopedNode[], node: Node): readonly ScopedNode[] {
  const [first] = values;
  if (first === undefined) return values;
  return [...values.slice(0, MAX_PATTERN_VALUES - 1), { node, scope: first.scope }];
}

function elementOf({ node, scope }: ScopedNode, at: number): ScopedNode[] {
  const element = node.type === "ArrayExpression" ? node.elements[at] : undefined;
  return element == null ? [] : [{ node: element, scope }];
}

/** The member that a property of a pattern takes, as the expression that would read it. */
function memberOf(
  { node: object, scope }: ScopedNode,
  { key, computed, loc }: Extract<Node, { type: "ObjectProperty" }>,
): ScopedNode {
  const node = { type: "MemberExpression", object, property: key, computed, loc } as unknown as Node;
  return { node, scope };
}

function refersToVariable({ parent, key }: Visit): boolean {
  if (parent === undefined) return false;
  const { type } = parent;
  if (type === "MemberExpression" || type === "OptionalMemberExpression") {
    return key === "object" || parent.computed;
  }
  if (key === "key") return "computed" in parent && parent.computed;
  if (key === "label" || key === "local" || key === "imported" || key === "exported" || key === "meta")
    return false;
  if (key === "id" || key === "params" || key === "param") return false;
  return !(type === "RestElement" || type === "ArrayPattern");
}

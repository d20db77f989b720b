import type { Node } from "@babel/types";
import { nameOf } from "@cem/program";
import { createScope, declare, functionScope, lookUp } from "./scopes.ts";
import type { Scope, ScopedNode } from "./scopes.ts";

/** A node with what surrounds it. */
export interface Visit extends ScopedNode {
  parent: Node | undefined;
  /** The parent's property that holds the node. */
  key: string;
}

/** The parts of a program that rules look at. All are collected in one walk of its tree. */
export interface ProgramParts {
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
  /** What functions that are called where they stand are given. */
  given: Map<Node, readonly ScopedNode[]>;
}

const TYPES_WITH_CODE =
  /^TS(?:As|Satisfies|NonNull|Instantiation)Expression$|^TSTypeAssertion$|^TSEnum|^TSParameterProperty$|^TSExport|^TSModule/;
const SKIPPED = new Set([
  "loc",
  "extra",
  "start",
  "end",
  "type",
  "typeAnnotation",
  "typeParameters",
  "range",
]);
const FUNCTION = /Function(?:Expression|Declaration)$|Method$/;
const BLOCK =
  /^(?:BlockStatement|For\w*Statement|CatchClause|SwitchStatement|StaticBlock|Class\w+|TSModuleBlock)$/;

/** Walks the tree once, iteratively, and sorts what rules look at. */
export function collectParts(root: Node): ProgramParts {
  const parts: ProgramParts = {
    references: [],
    members: [],
    calls: [],
    loops: [],
    texts: [],
    patterns: [],
    dynamicImports: [],
    assignments: [],
    given: new Map(),
  };
  const top = createScope(undefined, true);
  const pending: Visit[] = [{ node: root, parent: undefined, key: "", scope: top }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { node } = visit;
    const scope = scopeOf(node, visit.scope, parts);
    sort(visit, scope, parts);
    const record = node as unknown as Record<string, unknown>;
    for (const key in record) {
      if (SKIPPED.has(key)) continue;
      const value = record[key];
      if (typeof value !== "object" || value === null) continue;
      if (!Array.isArray(value)) {
        if (isRuntimeNode(value)) pending.push({ node: value, parent: node, key, scope });
        continue;
      }
      for (let at = value.length - 1; at >= 0; at -= 1) {
        const child: unknown = value[at];
        if (isRuntimeNode(child)) pending.push({ node: child, parent: node, key, scope });
      }
    }
  }
  for (const { node, scope } of parts.assignments) {
    if (node.type === "AssignmentExpression") bindPattern(node.left, { node: node.right, scope }, assignTo);
  }
  return parts;
}

function isRuntimeNode(value: unknown): value is Node {
  const type = (value as { type?: unknown } | null)?.type;
  if (typeof type !== "string") return false;
  if (type.startsWith("TS")) return TYPES_WITH_CODE.test(type);
  return (value as { declare?: unknown }).declare !== true;
}

function scopeOf(node: Node, outer: Scope, { given }: ProgramParts): Scope {
  const { type } = node;
  if (type === "Program" || FUNCTION.test(type)) {
    const scope = type === "Program" ? outer : createScope(outer, true);
    if ("params" in node && Array.isArray(node.params)) {
      const values = given.get(node);
      for (const [at, parameter] of (node.params as Node[]).entries()) {
        bindPattern(parameter, values?.[at], declareIn(scope));
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
        bindPattern(id, init == null ? undefined : { node: init, scope }, target);
      }
      break;
    }
    case "FunctionDeclaration":
    case "ClassDeclaration":
      if (node.id != null) declare(scope, node.id.name).values.push({ node, scope });
      break;
    case "CatchClause":
      if (node.param != null) bindPattern(node.param, undefined, declareIn(inner));
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

type Bind = (name: string, value: ScopedNode | undefined) => void;

function declareIn(scope: Scope): Bind {
  return (name, value) => {
    const { values } = declare(scope, name);
    if (value !== undefined) values.push(value);
  };
}

const assignTo: Bind = (name, value) => {
  if (value !== undefined) lookUp(value.scope, name)?.values.push(value);
};

/** Gives each name in a pattern the part of the value that it takes. */
function bindPattern(pattern: Node, value: ScopedNode | undefined, bind: Bind): void {
  switch (pattern.type) {
    case "Identifier":
      bind(pattern.name, value);
      break;
    case "AssignmentPattern":
      bindPattern(pattern.left, value, bind);
      if (value !== undefined) bindPattern(pattern.left, { node: pattern.right, scope: value.scope }, bind);
      break;
    case "RestElement":
      bindPattern(pattern.argument, value, bind);
      break;
    case "TSParameterProperty":
      bindPattern(pattern.parameter, value, bind);
      break;
    case "ArrayPattern":
      for (const [at, element] of pattern.elements.entries()) {
        if (element !== null) bindPattern(element, elementOf(value, at), bind);
      }
      break;
    case "ObjectPattern":
      for (const property of pattern.properties) {
        if (property.type === "RestElement") bindPattern(property.argument, value, bind);
        else bindPattern(property.value, memberOf(value, property), bind);
      }
      break;
    default:
  }
}

function elementOf(value: ScopedNode | undefined, at: number): ScopedNode | undefined {
  if (value?.node.type !== "ArrayExpression") return undefined;
  const node = value.node.elements[at];
  return node == null ? undefined : { node, scope: value.scope };
}

/** The member that a property of a pattern takes, as the expression that would read it. */
function memberOf(
  value: ScopedNode | undefined,
  { key, computed, loc }: Extract<Node, { type: "ObjectProperty" }>,
): ScopedNode | undefined {
  if (value === undefined) return undefined;
  const node = {
    type: "MemberExpression",
    object: value.node,
    property: key,
    computed,
    loc,
  } as unknown as Node;
  return { node, scope: value.scope };
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

import type { Node } from "@babel/types";
import { namesOf } from "./imports.ts";
import { runtimeNodes, type NodeVisit } from "./syntax-tree.ts";

/** An expression with the scope that its names belong to. */
export interface ScopedNode {
  node: Node;
  scope: Scope;
}

/** A name that the program declares. */
export interface Binding {
  /** Its known values: initial values and assignments. */
  values: ScopedNode[];
  /** The module and the export that it was imported from: `*` for the whole module. */
  imported?: { specifier: string; name: string } | undefined;
}

/** The names that are declared in one function, block or program. */
export interface Scope {
  parent: Scope | undefined;
  /** Whether `var` belongs here. */
  isFunction: boolean;
  bindings?: Map<string, Binding>;
  /** The results of {@link lookUp}. */
  found?: Map<string, Binding | undefined>;
}

/** Declares a name; declared twice, it keeps the values of both. */
function declare(scope: Scope, name: string): Binding {
  const bindings = (scope.bindings ??= new Map<string, Binding>());
  const binding = bindings.get(name) ?? { values: [] };
  bindings.set(name, binding);
  return binding;
}

/** The scope that a `var` in this one belongs to. */
function functionScope(scope: Scope): Scope {
  let at = scope;
  while (!at.isFunction && at.parent !== undefined) at = at.parent;
  return at;
}

/** The binding that a name refers to, once all names are declared. `undefined`: a global. */
export function lookUp(scope: Scope, name: string): Binding | undefined {
  const known = scope.found?.get(name);
  if (known !== undefined || scope.found?.has(name) === true) return known;
  let binding: Binding | undefined;
  for (let at: Scope | undefined = scope; at !== undefined && binding === undefined; at = at.parent) {
    binding = at.bindings?.get(name);
  }
  scope.found ??= new Map();
  scope.found.set(name, binding);
  return binding;
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

/** Binds each name in a pattern to its part of the value. Parts that can't be expressed are bound to themselves. */
function bindPattern(pattern: Node, value: ScopedNode | undefined, bind: Bind): void {
  const bindPart = (part: Node): void =>
    bindPattern(part, value && { node: pattern, scope: value.scope }, bind);
  switch (pattern.type) {
    case "Identifier":
      return bind(pattern.name, value);
    case "AssignmentPattern":
      return bindPattern(pattern.left, value, bind);
    case "RestElement":
      return bindPattern(pattern.argument, value, bind);
    case "TSParameterProperty":
      return bindPattern(pattern.parameter, value, bind);
    case "ArrayPattern":
      for (const element of pattern.elements) if (element !== null) bindPart(element);
      break;
    case "ObjectPattern":
      for (const property of pattern.properties) {
        if (property.type === "RestElement") bindPattern(property.argument, value, bind);
        else bindPattern(property.value, value && memberOf(value, property), bind);
      }
      break;
    default:
  }
}

/** The names that a pattern binds, without those in its default values and computed keys. */
export function patternNames(pattern: Node): string[] {
  const names: string[] = [];
  bindPattern(pattern, undefined, (name) => names.push(name));
  return names;
}

/** The member that a property of a pattern reads, as an expression. */
function memberOf(
  { node: object, scope }: ScopedNode,
  { key, computed, loc }: Extract<Node, { type: "ObjectProperty" }>,
): ScopedNode {
  const node = { type: "MemberExpression", object, property: key, computed, loc } as unknown as Node;
  return { node, scope };
}

/** A visited node with the scope that it stands in. */
export type ScopedVisit = NodeVisit & ScopedNode;

const FUNCTION = /Function(?:Expression|Declaration)$|Method$/;
const BLOCK =
  /^(?:BlockStatement|For\w*Statement|CatchClause|SwitchStatement|StaticBlock|Class\w+|TSModuleBlock)$/;

/** Visits the nodes below `root` that exist at run time. After the last one, all names and their values are known. */
export function* scopedNodes(root: Node): Generator<ScopedVisit> {
  const top: Scope = { parent: undefined, isFunction: true };
  const inner = new Map<Node | undefined, Scope>();
  const assigned: ScopedNode[] = [];
  for (const { node, parent, key } of runtimeNodes(root)) {
    const visit = { node, parent, key, scope: inner.get(parent) ?? top };
    const scope = scopeOf(node, visit.scope);
    inner.set(node, scope);
    declareNames(visit, scope);
    if (node.type === "AssignmentExpression" || node.type === "UpdateExpression")
      assigned.push({ node, scope });
    yield visit;
  }
  for (const { node, scope } of assigned) {
    if (node.type === "UpdateExpression") bindPattern(node.argument, { node, scope }, assignTo);
    if (node.type !== "AssignmentExpression") continue;
    const value = node.operator === "=" ? node.right : node;
    bindPattern(node.left, { node: value, scope }, assignTo);
  }
}

function scopeOf(node: Node, outer: Scope): Scope {
  const { type } = node;
  if (type === "Program" || FUNCTION.test(type)) {
    const scope: Scope = type === "Program" ? outer : { parent: outer, isFunction: true };
    if ("params" in node && Array.isArray(node.params)) {
      for (const parameter of node.params as Node[]) bindPattern(parameter, undefined, declareIn(scope));
    }
    if (type === "FunctionExpression" && node.id != null)
      declare(scope, node.id.name).values.push({ node, scope });
    return scope;
  }
  return BLOCK.test(type) ? { parent: outer, isFunction: false } : outer;
}

function declareNames({ node, scope }: ScopedVisit, inner: Scope): void {
  switch (node.type) {
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
      for (const { local = "", imported: name } of namesOf(node))
        declare(scope, local).imported = { specifier: node.source.value, name };
      break;
    default:
  }
}

/** Whether an identifier refers to a variable or a global. */
export function refersToVariable({ parent, key }: NodeVisit): boolean {
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

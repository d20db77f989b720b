import type { Node } from "@babel/types";

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
export function declare(scope: Scope, name: string): Binding {
  const bindings = (scope.bindings ??= new Map<string, Binding>());
  const binding = bindings.get(name) ?? { values: [] };
  bindings.set(name, binding);
  return binding;
}

/** The scope that a `var` in this one belongs to. */
export function functionScope(scope: Scope): Scope {
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

export function declareIn(scope: Scope): Bind {
  return (name, value) => {
    const { values } = declare(scope, name);
    if (value !== undefined) values.push(value);
  };
}

/** Adds a value to a declared variable. */
export const assignTo: Bind = (name, value) => {
  if (value !== undefined) lookUp(value.scope, name)?.values.push(value);
};

/** Binds each name in a pattern to its part of the value. Parts that can't be expressed are bound to themselves. */
export function bindPattern(pattern: Node, value: ScopedNode | undefined, bind: Bind): void {
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

/** The member that a property of a pattern reads, as an expression. */
function memberOf(
  { node: object, scope }: ScopedNode,
  { key, computed, loc }: Extract<Node, { type: "ObjectProperty" }>,
): ScopedNode {
  const node = { type: "MemberExpression", object, property: key, computed, loc } as unknown as Node;
  return { node, scope };
}

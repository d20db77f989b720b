import type { Node } from "@babel/types";

/** An expression with the scope that its names belong to. */
export interface ScopedNode {
  node: Node;
  scope: Scope;
}

/** A name that the program declares. */
export interface Binding {
  /** What it is known to be given: initial values and assignments. */
  values: ScopedNode[];
  /** The module and the export that it was imported from: `*` for the whole module. */
  imported?: { specifier: string; name: string } | undefined;
}

/** The names that are declared in one function, block or program. */
export interface Scope {
  parent: Scope | undefined;
  /** Whether `var` belongs here. */
  isFunction: boolean;
  bindings: Map<string, Binding> | undefined;
}

/** Makes the scope of a node in which names can be declared. */
export function createScope(parent: Scope | undefined, isFunction: boolean): Scope {
  return { parent, isFunction, bindings: undefined };
}

/** Declares a name; declared twice, it keeps the values of both. */
export function declare(scope: Scope, name: string): Binding {
  const bindings = (scope.bindings ??= new Map<string, Binding>());
  const known = bindings.get(name);
  if (known !== undefined) return known;
  const binding: Binding = { values: [] };
  bindings.set(name, binding);
  return binding;
}

/** The scope that a `var` in this one belongs to. */
export function functionScope(scope: Scope): Scope {
  let at = scope;
  while (!at.isFunction && at.parent !== undefined) at = at.parent;
  return at;
}

/** The binding that a name refers to. `undefined`: a global. */
export function lookUp(scope: Scope, name: string): Binding | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const binding = at.bindings?.get(name);
    if (binding !== undefined) return binding;
  }
  return undefined;
}

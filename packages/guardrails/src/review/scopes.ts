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
  bindings: Map<string, Binding> | undefined;
  /** The results of {@link lookUp}. */
  found: Map<string, Binding | undefined> | undefined;
}

/** Makes the scope of a node in which names can be declared. */
export function createScope(parent: Scope | undefined, isFunction: boolean): Scope {
  return { parent, isFunction, bindings: undefined, found: undefined };
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

/** Visits the nodes right below one that exist at run time, those of a list from the last to the first. */
export function forEachChild(node: Node, visit: (child: Node, key: string) => void): void {
  const record = node as unknown as Record<string, unknown>;
  for (const key in record) {
    if (SKIPPED.has(key)) continue;
    const value = record[key];
    if (typeof value !== "object" || value === null) continue;
    if (!Array.isArray(value)) {
      if (isRuntimeNode(value)) visit(value, key);
      continue;
    }
    for (let at = value.length - 1; at >= 0; at -= 1) {
      const child: unknown = value[at];
      if (isRuntimeNode(child)) visit(child, key);
    }
  }
}

function isRuntimeNode(value: unknown): value is Node {
  const type = (value as { type?: unknown } | null)?.type;
  if (typeof type !== "string") return false;
  if (type.startsWith("TS")) return TYPES_WITH_CODE.test(type);
  return (value as { declare?: unknown }).declare !== true;
}

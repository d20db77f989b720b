import type { Node } from "@babel/types";
import { isObject } from "@cem/core";

/** The TypeScript nodes that contain code to run; every other node named `TS…` is types only. */
const TYPESCRIPT_WITH_CODE =
  /^TS(?:(?:As|Satisfies|NonNull|Instantiation)Expression|TypeAssertion|Enum\w+|ParameterProperty|ExportAssignment|ImportEqualsDeclaration|Module\w+)$/;

const NOT_CHILDREN = new Set(["loc", "extra", "leadingComments", "trailingComments", "innerComments"]);

/** A node with its parent and the parent's property that holds it. */
export interface NodeVisit {
  node: Node;
  parent: Node | undefined;
  key: string;
}

function isNode(value: unknown): value is Node {
  return isObject(value) && typeof value["type"] === "string";
}

export function isNamed(node: Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

/** Whether a node is types only and removed at run time. */
export function isTypeOnly(node: Node): boolean {
  if (node.type.startsWith("TS")) return !TYPESCRIPT_WITH_CODE.test(node.type);
  return "declare" in node && node.declare === true;
}

/**
 * Visits `root` and every node below it that exists at run time, parents before children. Iterative, so that deep nesting
 * can't exhaust the stack.
 */
export function runtimeNodes(root: Node): Iterable<NodeVisit> {
  return walked.get(root) ?? walkRuntimeNodes(root);
}

/** Caches the visits of small programs, which several stages walk. */
const walked = new WeakMap<Node, readonly NodeVisit[]>();
const MAX_KEPT_VISITS = 5_000;

function* walkRuntimeNodes(root: Node): Generator<NodeVisit> {
  const visits: NodeVisit[] = [];
  for (const visit of visitNodes(root, (node) => !isTypeOnly(node))) {
    if (visits.length <= MAX_KEPT_VISITS) visits.push(visit);
    yield visit;
  }
  if (visits.length <= MAX_KEPT_VISITS) walked.set(root, visits);
}

/**
 * Visits `root` and the nodes below it, parents before children. Iterative, like {@link runtimeNodes}.
 *
 * @param enters - Whether a node and its descendants are visited.
 */
export function* visitNodes(root: Node, enters: (node: Node) => boolean): Generator<NodeVisit> {
  const pending: NodeVisit[] = [{ node: root, parent: undefined, key: "" }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    yield visit;
    const parent = visit.node;
    const keys = Object.keys(parent);
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const key = keys[index] as string;
      const value = (parent as unknown as Record<string, unknown>)[key];
      if (typeof value !== "object" || value === null || NOT_CHILDREN.has(key)) continue;
      const children = Array.isArray(value) ? (value as unknown[]) : [value];
      for (let at = children.length - 1; at >= 0; at -= 1) {
        const node = children[at];
        if (isNode(node) && enters(node)) pending.push({ node, parent, key });
      }
    }
  }
}

/** Whether an identifier names a member or a label, not a variable: `a.here`, `{ here: 1 }`, `class { here() {} }`. */
export function isLabel({ parent, key }: NodeVisit): boolean {
  if (parent === undefined) return false;
  if (key === "label") return true;
  if (key === "property" || key === "key") return !("computed" in parent && parent.computed);
  if (key === "id") return parent.type === "TSEnumMember";
  return key === "exported" || key === "imported" || key === "meta";
}

/** The names of variables that the program refers to at run time, apart from its import declarations. */
export function namesUsedAtRunTime(root: Node): Set<string> {
  const names = new Set<string>();
  for (const visit of runtimeNodes(root)) {
    const { node, parent } = visit;
    if (node.type !== "Identifier") continue;
    if (parent?.type.startsWith("Import") && parent.type !== "ImportExpression") continue;
    if (parent?.type === "ExportSpecifier" && parent.exportKind === "type") continue;
    if (!isLabel(visit)) names.add(node.name);
  }
  return names;
}

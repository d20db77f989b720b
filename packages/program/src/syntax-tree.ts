import type { Node } from "@babel/types";

/** TypeScript's nodes that hold code which runs; every other node named `TS…` is types only. */
const TYPESCRIPT_WITH_CODE = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
  "TSEnumDeclaration",
  "TSEnumBody",
  "TSEnumMember",
  "TSParameterProperty",
  "TSExportAssignment",
  "TSImportEqualsDeclaration",
  "TSModuleDeclaration",
  "TSModuleBlock",
]);

const NOT_CHILDREN = new Set(["loc", "extra", "leadingComments", "trailingComments", "innerComments"]);

/** A node and where it hangs. */
export interface Visit {
  node: Node;
  parent: Node | undefined;
  key: string;
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string"
  );
}

/** True for nodes that only say something about types and leave nothing at run time. */
export function isTypeOnly(node: Node): boolean {
  if (node.type.startsWith("TS")) return !TYPESCRIPT_WITH_CODE.has(node.type);
  return "declare" in node && node.declare === true;
}

/**
 * Every node under `root` that is there at run time, parents before children. Iterative, so depth can't exhaust
 * the stack.
 */
export function* runtimeNodes(root: Node): Generator<Visit> {
  const pending: Visit[] = [{ node: root, parent: undefined, key: "" }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    yield visit;
    const parent = visit.node;
    const entries = Object.entries(parent);
    for (let index = entries.length - 1; index >= 0; index -= 1) {
      const [key, value] = entries[index] as [string, unknown];
      if (NOT_CHILDREN.has(key)) continue;
      const children = Array.isArray(value) ? value : [value];
      for (let place = children.length - 1; place >= 0; place -= 1) {
        const node: unknown = children[place];
        if (isNode(node) && !isTypeOnly(node)) pending.push({ node, parent, key });
      }
    }
  }
}

/** True where an identifier is only a label for something: `a.here`, `{ here: 1 }`, `class { here() {} }`. */
function isMereLabel({ parent, key }: Visit): boolean {
  if (parent === undefined) return false;
  if (key === "label") return true;
  const computed = "computed" in parent && parent.computed;
  if (key === "property") return !computed;
  if (key === "key") return !computed;
  if (key === "id") return parent.type === "TSEnumMember";
  return key === "exported" || key === "imported" || key === "meta";
}

/** The names that something in the program refers to at run time, import declarations aside. */
export function namesUsedAtRunTime(root: Node): Set<string> {
  const names = new Set<string>();
  for (const visit of runtimeNodes(root)) {
    const { node, parent } = visit;
    if (node.type !== "Identifier" && node.type !== "JSXIdentifier") continue;
    if (parent?.type.startsWith("Import") && parent.type !== "ImportExpression") continue;
    if (parent?.type === "ExportSpecifier" && parent.exportKind === "type") continue;
    if (!isMereLabel(visit)) names.add(node.name);
  }
  return names;
}

import type { Node } from "@babel/types";

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

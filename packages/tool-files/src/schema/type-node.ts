/** A TypeScript type before it is printed. */
export type TypeNode =
  | { kind: "text"; text: string }
  | { kind: "reference"; to: NamedType }
  | { kind: "array"; item: TypeNode }
  | { kind: "tuple"; items: TypeNode[]; required: number; rest: TypeNode | undefined }
  | ObjectNode
  | { kind: "union" | "intersection"; parts: TypeNode[] };

export interface ObjectNode {
  kind: "object";
  members: Member[];
  index: TypeNode | undefined;
}

export interface Member {
  name: string;
  type: TypeNode;
  optional: boolean;
  schema?: unknown;
}

export interface NamedType {
  name: string;
  comment: string;
  /** Absent while its schema is read. */
  node?: TypeNode | undefined;
  /** Named types it refers to outside of an object, array or tuple. TypeScript allows no cycle of these. */
  readonly consistsOf: Set<NamedType>;
}

export const UNKNOWN: TypeNode = { kind: "text", text: "unknown" };
export const NEVER: TypeNode = { kind: "text", text: "never" };
export const OPEN_OBJECT: TypeNode = { kind: "object", members: [], index: UNKNOWN };
export const NULL: TypeNode = { kind: "text", text: "null" };

/** A union of more members is `unknown`. */
const MAX_UNION_PARTS = 1_000;
/** TypeScript expands an intersection of unions, and fails at 100,000 members. */
const MAX_INTERSECTION_WIDTH = 64;

export function textNode(text: string): TypeNode {
  return { kind: "text", text };
}

/** The union of types: flat, without duplicates, and `unknown` when one part is. */
export function unionOf(parts: readonly TypeNode[]): TypeNode {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const distinct = distinctParts(parts, "union").filter((part) => !isText(part, "never"));
  if (distinct.some((part) => isText(part, "unknown")) || distinct.length > MAX_UNION_PARTS) return UNKNOWN;
  const [first, second] = distinct;
  if (first === undefined) return parts.length === 0 ? UNKNOWN : NEVER;
  return second === undefined ? first : { kind: "union", parts: distinct };
}

/** The intersection of types. Parts that would make it too wide for TypeScript are left out. */
export function intersectionOf(parts: readonly TypeNode[]): TypeNode {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const kept: TypeNode[] = [];
  let width = 1;
  for (const part of distinctParts(parts, "intersection")) {
    const wider = width * widthOf(part);
    if (isText(part, "unknown") || (wider > MAX_INTERSECTION_WIDTH && wider > width)) continue;
    kept.push(part);
    width = wider;
  }
  const [first, second] = kept;
  if (first === undefined) return UNKNOWN;
  return second === undefined ? first : { kind: "intersection", parts: kept };
}

/** The maximum number of members of a type as a union. A type whose schema is still read counts as too wide. */
function widthOf(node: TypeNode): number {
  switch (node.kind) {
    case "union":
      return node.parts.reduce((sum, part) => sum + widthOf(part), 0);
    case "intersection":
      return node.parts.reduce((product, part) => product * widthOf(part), 1);
    case "reference":
      return namedWidth(node.to);
    case "text":
      return node.text === "boolean" ? 2 : 1;
    default:
      return 1;
  }
}

const namedWidths = new WeakMap<NamedType, number>();

function namedWidth(named: NamedType): number {
  if (named.node === undefined) return MAX_INTERSECTION_WIDTH;
  let width = namedWidths.get(named);
  if (width === undefined) {
    // Parts that are still read were counted above, so that a cycle ends.
    namedWidths.set(named, MAX_INTERSECTION_WIDTH);
    width = Math.min(widthOf(named.node), MAX_INTERSECTION_WIDTH * 2);
    namedWidths.set(named, width);
  }
  return width;
}

function isText(node: TypeNode, text: string): boolean {
  return node.kind === "text" && node.text === text;
}

function distinctParts(parts: readonly TypeNode[], kind: "union" | "intersection"): TypeNode[] {
  const seen = new Set<unknown>();
  return parts
    .flatMap((part) => (part.kind === kind ? part.parts : [part]))
    .filter((part) => {
      const key = part.kind === "text" ? part.text : part.kind === "reference" ? part.to : part;
      const isNew = !seen.has(key);
      seen.add(key);
      return isNew;
    });
}

export function referencesOf(node: TypeNode): NamedType[] {
  switch (node.kind) {
    case "text":
      return [];
    case "reference":
      return [node.to];
    case "array":
      return referencesOf(node.item);
    case "object":
      return [...node.members.map((member) => member.type), ...(node.index ? [node.index] : [])].flatMap(
        referencesOf,
      );
    case "tuple":
      return [...node.items, ...(node.rest ? [node.rest] : [])].flatMap(referencesOf);
    default:
      return node.parts.flatMap(referencesOf);
  }
}

/** Whether `{}` is assignable to the type. */
export function acceptsEmptyObject(node: TypeNode, known = new Map<NamedType, boolean>()): boolean {
  switch (node.kind) {
    case "text":
      return node.text === "unknown";
    case "object":
      return node.members.every((member) => member.optional);
    case "union":
      return node.parts.some((part) => acceptsEmptyObject(part, known));
    case "intersection":
      return node.parts.every((part) => acceptsEmptyObject(part, known));
    case "reference": {
      const before = known.get(node.to);
      if (before !== undefined) return before;
      known.set(node.to, false);
      const accepts = node.to.node !== undefined && acceptsEmptyObject(node.to.node, known);
      known.set(node.to, accepts);
      return accepts;
    }
    default:
      return false;
  }
}

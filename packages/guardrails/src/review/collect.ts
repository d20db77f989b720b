import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import { locationOf, refersToVariable, scopedNodes, type ScopedVisit } from "@cem/program";

/** Collects findings, deduplicated by rule, line and message. */
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

/** The parts of a program that rules inspect. All are collected in one walk of its tree. */
export interface ProgramParts {
  /** The length of the program's text. */
  length: number;
  /** Names that refer to a variable or a global. */
  references: ScopedVisit[];
  members: ScopedVisit[];
  /** Calls, `new` and tagged templates. */
  calls: ScopedVisit[];
  /** Texts, including concatenated ones. */
  texts: ScopedVisit[];
  dynamicImports: ScopedVisit[];
  /** Assignments and updates (`n++`). */
  assignments: ScopedVisit[];
}

export function collectParts(root: Node): ProgramParts {
  const parts: ProgramParts = {
    length: root.end ?? 0,
    references: [],
    members: [],
    calls: [],
    texts: [],
    dynamicImports: [],
    assignments: [],
  };
  for (const visit of scopedNodes(root)) sort(visit, parts);
  return parts;
}

/** The part of a node, by its type. */
const PART_OF: ReadonlyMap<string, Exclude<keyof ProgramParts, "length">> = new Map([
  ["Identifier", "references"],
  ["MemberExpression", "members"],
  ["OptionalMemberExpression", "members"],
  ["CallExpression", "calls"],
  ["OptionalCallExpression", "calls"],
  ["NewExpression", "calls"],
  ["TaggedTemplateExpression", "calls"],
  ["StringLiteral", "texts"],
  ["TemplateLiteral", "texts"],
  ["BinaryExpression", "texts"],
  ["ImportExpression", "dynamicImports"],
  ["AssignmentExpression", "assignments"],
  ["UpdateExpression", "assignments"],
]);

function sort(visit: ScopedVisit, parts: ProgramParts): void {
  const { node, parent } = visit;
  const part = PART_OF.get(node.type);
  if (part === undefined || (node.type === "Identifier" && !refersToVariable(visit))) return;
  const isWithin = parent?.type === "BinaryExpression";
  if (node.type === "BinaryExpression" && (node.operator !== "+" || isWithin)) return;
  parts[part].push(visit);
}

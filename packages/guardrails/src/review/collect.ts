import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import { locationOf, namesOf, runtimeNodes } from "@cem/program";
import type { NodeVisit } from "@cem/program";
import { assignTo, bindPattern, declare, declareIn, functionScope } from "./scopes.ts";
import type { Scope, ScopedNode } from "./scopes.ts";

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

export type Visit = NodeVisit & ScopedNode;

/** The parts of a program that rules inspect. All are collected in one walk of its tree. */
export interface ProgramParts {
  /** The length of the program's text. */
  length: number;
  /** Names that refer to a variable or a global. */
  references: Visit[];
  members: Visit[];
  /** Calls, `new` and tagged templates. */
  calls: Visit[];
  /** Texts, including concatenated ones. */
  texts: Visit[];
  /** `import(…)` expressions. */
  dynamicImports: Visit[];
  /** Assignments and updates (`n++`). */
  assignments: Visit[];
}

const FUNCTION = /Function(?:Expression|Declaration)$|Method$/;
const BLOCK =
  /^(?:BlockStatement|For\w*Statement|CatchClause|SwitchStatement|StaticBlock|Class\w+|TSModuleBlock)$/;

/** Walks the tree once, and sorts the nodes that rules inspect. */
export function collectParts(root: Node): ProgramParts {
  const top: Scope = { parent: undefined, isFunction: true };
  const parts: ProgramParts = {
    length: root.end ?? 0,
    references: [],
    members: [],
    calls: [],
    texts: [],
    dynamicImports: [],
    assignments: [],
  };
  const inner = new Map<Node | undefined, Scope>();
  for (const { node, parent, key } of runtimeNodes(root)) {
    const visit = { node, parent, key, scope: inner.get(parent) ?? top };
    const scope = scopeOf(node, visit.scope);
    inner.set(node, scope);
    sort(visit, scope, parts);
  }
  // After all names are declared.
  for (const { node, scope } of parts.assignments) {
    if (node.type === "UpdateExpression") bindPattern(node.argument, { node, scope }, assignTo);
    if (node.type !== "AssignmentExpression") continue;
    const value = node.operator === "=" ? node.right : node;
    bindPattern(node.left, { node: value, scope }, assignTo);
  }
  return parts;
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
    case "AssignmentExpression":
    case "UpdateExpression":
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
      for (const { local = "", imported: name } of namesOf(node))
        declare(scope, local).imported = { specifier: node.source.value, name };
      break;
    default:
  }
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

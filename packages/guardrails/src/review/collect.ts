import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import { locationOf, nameOf } from "@cem/program";
import { createScope, declare, forEachChild, functionScope, lookUp } from "./scopes.ts";
import type { Scope, ScopedNode } from "./scopes.ts";

/** Collects findings, each rule at most once on a line and for a message. */
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

/** A node with what surrounds it. */
export interface Visit extends ScopedNode {
  parent: Node | undefined;
  /** The parent's property that holds the node. */
  key: string;
}

/** The parts of a program that rules look at. All are collected in one walk of its tree. */
export interface ProgramParts {
  /** The length of the program's text. */
  length: number;
  /** Names that refer to a variable or a global. */
  references: Visit[];
  members: Visit[];
  /** Calls, `new` and tagged templates. */
  calls: Visit[];
  /** Texts, also those that are put together. */
  texts: Visit[];
  /** `import(…)` expressions. */
  dynamicImports: Visit[];
  /** Assignments and updates (`n++`). */
  assignments: Visit[];
}

const FUNCTION = /Function(?:Expression|Declaration)$|Method$/;
const BLOCK =
  /^(?:BlockStatement|For\w*Statement|CatchClause|SwitchStatement|StaticBlock|Class\w+|TSModuleBlock)$/;

/** Walks the tree once, iteratively, and sorts what rules look at. */
export function collectParts(root: Node): ProgramParts {
  const top = createScope(undefined, true);
  const parts: ProgramParts = {
    length: root.end ?? 0,
    references: [],
    members: [],
    calls: [],
    texts: [],
    dynamicImports: [],
    assignments: [],
  };
  const pending: Visit[] = [{ node: root, parent: undefined, key: "", scope: top }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { node } = visit;
    const scope = scopeOf(node, visit.scope);
    sort(visit, scope, parts);
    forEachChild(node, (child, key) => void pending.push({ node: child, parent: node, key, scope }));
  }
  // Once all names are declared.
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
    const scope = type === "Program" ? outer : createScope(outer, true);
    if ("params" in node && Array.isArray(node.params)) {
      for (const parameter of node.params as Node[]) bindPattern(parameter, undefined, declareIn(scope));
    }
    if (type === "FunctionExpression" && node.id != null)
      declare(scope, node.id.name).values.push({ node, scope });
    return scope;
  }
  return BLOCK.test(type) ? createScope(outer, false) : outer;
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
      for (const specifier of node.specifiers) {
        const name =
          specifier.type === "ImportSpecifier"
            ? nameOf(specifier.imported)
            : specifier.type === "ImportDefaultSpecifier"
              ? "default"
              : "*";
        declare(scope, specifier.local.name).imported = { specifier: node.source.value, name };
      }
      break;
    default:
  }
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

/** Gives each name in a pattern the part of the value that it takes. Parts that can't be named stand for themselves. */
function bindPattern(pattern: Node, value: ScopedNode | undefined, bind: Bind): void {
  const bindPart = (part: Node): void =>
    bindPattern(part, value && { node: pattern, scope: value.scope }, bind);
  switch (pattern.type) {
    case "Identifier":
      bind(pattern.name, value);
      break;
    case "AssignmentPattern":
      bindPattern(pattern.left, value, bind);
      break;
    case "RestElement":
      bindPattern(pattern.argument, value, bind);
      break;
    case "TSParameterProperty":
      bindPattern(pattern.parameter, value, bind);
      break;
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

/** The member that a property of a pattern takes, as the expression that would read it. */
function memberOf(
  { node: object, scope }: ScopedNode,
  { key, computed, loc }: Extract<Node, { type: "ObjectProperty" }>,
): ScopedNode {
  const node = { type: "MemberExpression", object, property: key, computed, loc } as unknown as Node;
  return { node, scope };
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

import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import type { ProgramParts, Report, Visit } from "./collect.ts";
import type { Origin, Values } from "./values.ts";

type Problem = Omit<Finding, "line" | "column">;

const MAKES_CODE = new Map([
  ["global.eval", "eval"],
  ["global.Function", "Function"],
  ["module:vm", "node:vm"],
  ["module:node:vm", "node:vm"],
]);
const WORKERS = new Set(["global.Worker", "global.SharedWorker"]);
const TIMERS = new Set(["global.setTimeout", "global.setInterval", "global.setImmediate"]);
/** Members of the runtime that reach outside the sandbox. The sandbox refuses them; the finding reports it early. */
const RUNTIME_MEMBER =
  /^global\.(Deno\.(?:Command|run|dlopen|kill|core|internal|bench|UnsafePointer\w*|UnsafeCallback|UnsafeFnPointer)|process\.(?:binding|_linkedBinding|dlopen|kill|mainModule|_debugProcess)|Error\.prepareStackTrace)(?:\.|$)/;
/** Values that code must not pass on as a whole, since their further use could not be followed. */
const RUNTIMES = new Set(["global", "global.Deno", "global.process"]);
const COMPARISONS = new Set(["instanceof", "===", "!==", "==", "!=", "in"]);
/** Functions that tell only the names of what they are given. */
const NAMES_ONLY = /^global\.(?:Object\.(?:keys|getOwnPropertyNames|hasOwn)|console\.\w+|String|Boolean)$/;

/** Reports code that is made from text, and what reaches for the runtime. */
export function checkSecurity(parts: ProgramParts, values: Values, report: Report): void {
  for (const visit of parts.references) checkReference(visit, values, report);
  for (const visit of parts.members) checkMember(visit, values, report);
  for (const visit of parts.calls) checkCall(visit, values, report);
}

function checkReference(visit: Visit, values: Values, report: Report): void {
  const { node, parent, key, scope } = visit;
  if (node.type !== "Identifier" || parent === undefined) return;
  const origin = values.originOf(node, scope);
  if (origin === undefined) return;
  const problem = problemOf(origin);
  if (problem !== undefined && !isHarmlessUse(visit)) report.add(node, problem);
  if (RUNTIMES.has(origin) && key !== "callee" && isHandedOn(visit, values))
    report.add(node, handedOn(node.name));
}

function checkMember(visit: Visit, values: Values, report: Report): void {
  const { node, scope, parent, key } = visit;
  if (node.type !== "MemberExpression" && node.type !== "OptionalMemberExpression") return;
  const origin = values.originOf(node, scope);
  if (origin !== undefined) {
    const problem = problemOf(origin);
    if (problem !== undefined && !isHarmlessUse(visit)) report.add(node, problem);
    if (RUNTIMES.has(origin) && isHandedOn(visit, values))
      report.add(node, handedOn(origin.slice("global.".length)));
  }
  if (!node.computed || isSymbol(node.property)) return;
  const isWritten = key === "left" && parent?.type === "AssignmentExpression" && parent.operator === "=";
  if (isWritten || isHarmlessUse(visit) || values.keyOf(node, scope) !== undefined) return;
  if (!RUNTIMES.has(values.originOf(node.object, scope) ?? "")) return;
  report.add(node, {
    rule: "runtime-access",
    severity: "error",
    message: "The code picks a member of the runtime by a name that can't be read here.",
    hint: "Write the name out.",
  });
}

function checkCall({ node, scope }: Visit, values: Values, report: Report): void {
  const isCall = node.type === "CallExpression" || node.type === "OptionalCallExpression";
  if (!isCall && node.type !== "NewExpression") return;
  const called = values.originOf(node.callee, scope) ?? "";
  // `new this.constructor()` makes another of the same class.
  if (isCall && called === "constructor") report.add(node, makesCode("A function's constructor"));
  if (!isCall && WORKERS.has(called)) {
    const hint = "Do the work in the program itself.";
    const message = "Code here can't start workers.";
    report.add(node, { rule: "runtime-access", severity: "warning", message, hint });
  }
  const argument = timerArgument(node.callee, node.arguments);
  if (TIMERS.has(called) && argument !== undefined && isText(argument, scope, values))
    report.add(node, makesCode("A timer with a text"));
}

/** The first argument of a timer, also where it is called by `call` or `apply`. */
function timerArgument(callee: Node, [first, second]: readonly Node[]): Node | undefined {
  const isMember = callee.type === "MemberExpression" || callee.type === "OptionalMemberExpression";
  const name = isMember && callee.property.type === "Identifier" ? callee.property.name : "";
  if (name === "call" || name === "bind") return second;
  if (name !== "apply") return first;
  return second?.type === "ArrayExpression" ? (second.elements[0] ?? undefined) : undefined;
}

function problemOf(origin: Origin): Problem | undefined {
  const maker = MAKES_CODE.get(origin);
  if (maker !== undefined) return makesCode(maker);
  const member = RUNTIME_MEMBER.exec(origin)?.[1];
  if (member === undefined) return undefined;
  return {
    rule: "runtime-access",
    severity: "warning",
    message: `${member} is not available to code here.`,
    hint: "Call a tool for what it was to do.",
  };
}

function makesCode(what: string): Problem {
  return {
    rule: "code-from-text",
    severity: "error",
    message: `${what} makes code from text.`,
    hint: "Write the code out.",
  };
}

function handedOn(name: string): Problem {
  return {
    rule: "runtime-access",
    severity: "error",
    message: `${name} is handed on as a whole.`,
    hint: "Hand on the one value that is needed.",
  };
}

/** Whether something is only compared or named: `x instanceof Function`, `typeof eval`, `f.constructor.name`. */
function isHarmlessUse({ parent, key }: Visit): boolean {
  if (parent === undefined) return true;
  if (parent.type === "UnaryExpression") return parent.operator === "typeof";
  if (parent.type === "BinaryExpression") return COMPARISONS.has(parent.operator);
  if (parent.type === "SwitchCase") return true;
  if (parent.type !== "MemberExpression" && parent.type !== "OptionalMemberExpression") return false;
  return (
    key === "object" &&
    !parent.computed &&
    parent.property.type === "Identifier" &&
    /^(?:name|length|prototype)$/.test(parent.property.name)
  );
}

/** Whether the runtime goes where its uses can't be followed. */
function isHandedOn({ parent, key, scope }: Visit, values: Values): boolean {
  if (parent === undefined) return false;
  switch (parent.type) {
    case "MemberExpression":
    case "OptionalMemberExpression":
    case "UnaryExpression":
    case "BinaryExpression":
    case "SequenceExpression":
    case "ExpressionStatement":
    case "IfStatement":
    case "AwaitExpression":
      return false;
    case "VariableDeclarator":
      return parent.id.type !== "Identifier" && parent.id.type !== "ObjectPattern";
    case "AssignmentExpression":
      return key === "right" && parent.left.type !== "Identifier" && parent.left.type !== "ObjectPattern";
    case "CallExpression":
    case "OptionalCallExpression":
    case "NewExpression":
      return key !== "callee" && !NAMES_ONLY.test(values.originOf(parent.callee, scope) ?? "");
    default:
      return !parent.type.startsWith("TS");
  }
}

/** `Symbol.iterator` and `Symbol.for("name")` name no function that makes code. */
function isSymbol(property: Node): boolean {
  const named = property.type === "CallExpression" ? property.callee : property;
  return (
    named.type === "MemberExpression" && named.object.type === "Identifier" && named.object.name === "Symbol"
  );
}

/** Whether something is a text, or may be one that is put together. */
function isText(node: Node, scope: Visit["scope"], values: Values): boolean {
  const pending = [node];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.type === "TemplateLiteral") return true;
    if (part.type === "BinaryExpression" && part.operator === "+") pending.push(part.left, part.right);
    else if (part.type !== "NumericLiteral" && values.textOf(part, scope) !== undefined) return true;
  }
  return false;
}

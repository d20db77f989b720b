import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import type { ProgramParts, Report, Visit } from "./collect.ts";
import { MAX_VALUES } from "./constants.ts";
import { memberOrigins } from "./origins.ts";
import type { Origin, Values } from "./origins.ts";
import { lookUp } from "./scopes.ts";

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
const RUNTIME_NAMES = new Set(["globalThis", "self", "window", "global", "frames", "top", "Deno", "process"]);
const COMPARISONS = new Set(["instanceof", "===", "!==", "==", "!=", "in"]);
/** Functions that tell only the names of what they are given. */
const NAMES_ONLY = /^global\.(?:Object\.(?:keys|getOwnPropertyNames|hasOwn)|console\.\w+|String|Boolean)$/;

/** Reports code that is made from text, and what reaches for the runtime. */
export function checkSecurity(parts: ProgramParts, values: Values, report: Report): void {
  for (const visit of parts.references) checkReference(visit, values, report);
  for (const visit of parts.members) checkMember(visit, values, report);
  for (const visit of parts.calls) checkCall(visit, values, report);
  for (const visit of parts.patterns) checkPattern(visit, values, report);
}

function checkReference(visit: Visit, values: Values, report: Report): void {
  const { node, parent, key, scope } = visit;
  if (node.type !== "Identifier" || parent === undefined) return;
  const { name } = node;
  if (name === "eval" || name === "Function") {
    if (lookUp(scope, name) === undefined && !isHarmlessUse(visit)) report.add(node, makesCode(name));
  } else if (RUNTIME_NAMES.has(name) && lookUp(scope, name) === undefined && isHandedOn(visit, values)) {
    report.add(node, handedOn(name));
  } else if (key !== "object" && key !== "callee" && lookUp(scope, name)?.values.length === 1) {
    // A variable that stands for the runtime.
    const [origin] = values.origins.of(node, scope);
    if (origin !== undefined && RUNTIMES.has(origin) && isHandedOn(visit, values))
      report.add(node, handedOn(name));
  }
}

function checkMember(visit: Visit, values: Values, report: Report): void {
  const { node, scope, parent, key } = visit;
  if (node.type !== "MemberExpression" && node.type !== "OptionalMemberExpression") return;
  const origins = values.origins.of(node, scope);
  for (const origin of origins) {
    const problem = problemOf(origin);
    if (problem !== undefined && !isHarmlessUse(visit)) report.add(node, problem);
    if (RUNTIMES.has(origin) && isHandedOn(visit, values))
      report.add(node, handedOn(origin.slice("global.".length)));
  }
  if (!node.computed || isSymbol(node.property)) return;
  const isWritten = key === "left" && parent?.type === "AssignmentExpression" && parent.operator === "=";
  // A full list may lack names.
  const { length } = values.constants.keysOf(node, scope);
  if (isWritten || isHarmlessUse(visit) || (length > 0 && length < MAX_VALUES)) return;
  if (!values.origins.of(node.object, scope).some((origin) => RUNTIMES.has(origin))) return;
  report.add(node, {
    rule: "runtime-access",
    severity: "error",
    message: "The code picks a member of the runtime by a name that can't be read here.",
    hint: "Write the name out.",
  });
}

function checkCall({ node, scope, parent, key }: Visit, values: Values, report: Report): void {
  if (node.type === "TaggedTemplateExpression") {
    if (values.origins.of(node.tag, scope).includes("global.Function"))
      report.add(node, makesCode("Function"));
    return;
  }
  if (
    node.type !== "CallExpression" &&
    node.type !== "OptionalCallExpression" &&
    node.type !== "NewExpression"
  )
    return;
  const { callee } = node;
  const called = values.origins.of(callee, scope);
  const [first] = node.arguments;
  if (node.type !== "NewExpression") {
    for (const origin of values.origins.of(node, scope)) {
      const problem = problemOf(origin.replace(/^descriptor:/, ""));
      if (problem !== undefined) report.add(node, problem);
    }
  }
  if (node.type === "NewExpression" && called.some((origin) => WORKERS.has(origin))) {
    const hint = "Do the work in the program itself.";
    const message = "Code here can't start workers.";
    report.add(node, { rule: "runtime-access", severity: "warning", message, hint });
  }
  if (first === undefined) return;
  if (
    called.some((origin) => TIMERS.has(origin)) &&
    isText(timerArgument(callee, node.arguments) ?? first, scope, values)
  )
    report.add(node, makesCode("A timer with a text"));
  const isOfUnknown =
    (callee.type === "MemberExpression" || callee.type === "OptionalMemberExpression") &&
    values.origins.of(callee.object, scope).length === 0;
  if (!called.includes("constructor") || !isOfUnknown || node.type === "NewExpression") return;
  const isCalledAgain = key === "callee" && parent?.type === "CallExpression";
  if (isCalledAgain || isText(first, scope, values)) report.add(node, makesCode("A function's constructor"));
}

/** The first argument of a timer, also where it is called by `call` or `apply`. */
function timerArgument(callee: Node, [first, second]: readonly Node[]): Node | undefined {
  const isMember = callee.type === "MemberExpression" || callee.type === "OptionalMemberExpression";
  const name = isMember && callee.property.type === "Identifier" ? callee.property.name : "";
  if (name === "call" || name === "bind") return second;
  if (name !== "apply") return first;
  return second?.type === "ArrayExpression" ? (second.elements[0] ?? undefined) : undefined;
}

/** Reports `const { constructor: make } = function () {}` and the like. */
function checkPattern({ node, parent, scope }: Visit, values: Values, report: Report): void {
  const given =
    parent?.type === "VariableDeclarator"
      ? parent.init
      : parent?.type === "AssignmentExpression"
        ? parent.right
        : undefined;
  if (given != null) checkTaken(node, values.origins.of(given, scope));

  function checkTaken(pattern: Node, origins: readonly Origin[]): void {
    if (pattern.type === "AssignmentPattern") return checkTaken(pattern.left, origins);
    if (pattern.type !== "ObjectPattern") return;
    for (const property of pattern.properties) {
      if (property.type === "RestElement") {
        if (origins.some((origin) => RUNTIMES.has(origin)))
          report.add(property, handedOn("The global object"));
        continue;
      }
      const keys = values.constants.keysOf({ property: property.key, computed: property.computed }, scope);
      const taken = memberOrigins(origins, keys);
      for (const origin of taken) {
        const problem = problemOf(origin);
        if (problem !== undefined) report.add(property, problem);
      }
      checkTaken(property.value, taken);
    }
  }
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
    case "VariableDeclarator":
    case "ConditionalExpression":
    case "LogicalExpression":
    case "SequenceExpression":
    case "ExpressionStatement":
    case "IfStatement":
    case "AwaitExpression":
      return false;
    case "AssignmentExpression":
      return key === "right" && parent.left.type !== "Identifier" && parent.left.type !== "ObjectPattern";
    case "CallExpression":
    case "OptionalCallExpression":
    case "NewExpression": {
      if (key === "callee") return false;
      if (parent.callee.type.endsWith("FunctionExpression")) return false;
      const called = values.origins.of(parent.callee, scope);
      return !called.some(
        (origin) =>
          NAMES_ONLY.test(origin) ||
          /^global\.(?:Reflect\.get|Object\.getOwnPropertyDescriptor|Object\.create)$/.test(origin),
      );
    }
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
    else if (values.constants.of(part, scope).some((value) => typeof value === "string")) return true;
  }
  return false;
}

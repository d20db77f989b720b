import type { Node } from "@babel/types";
import { constantsOf, keysOf } from "./constants.ts";
import { lookUp } from "./scopes.ts";
import type { Scope } from "./scopes.ts";

/**
 * What an expression stands for, as far as the program shows it: `global` (the global object), `global.Deno.run` (a
 * member of a global), `module:node:fs.readFile` (an import), `function` (some function), `value` (a literal),
 * `constructor` (the constructor of something), or `member:` and a name for a method of a literal.
 */
export type Origin = string;

const MAX_DEPTH = 24;
const MAX_ORIGINS = 8;
/** The names of the global object. */
const GLOBAL_OBJECTS = new Set(["globalThis", "self", "window", "global", "frames", "top"]);
/** Modules whose exports are globals too. */
const SAME_AS_GLOBAL: Readonly<Record<string, Origin | undefined>> = {
  process: "global.process",
  timers: "global",
};
/** Globals of the guest that this process may lack. */
const OTHER_GLOBALS = new Set(["Deno", "process", "require", "Worker", "SharedWorker"]);
const FUNCTION_NODE = /Function(?:Expression|Declaration)$|^Class(?:Expression|Declaration)$/;
const LITERAL_NODE = /Literal$|^ArrayExpression$|^ObjectExpression$|^NewExpression$/;
/** Members of a function that stand for the function itself. */
const SAME_FUNCTION = new Set(["call", "apply", "bind"]);

/** Everything that an expression can stand for. Empty where nothing is known. */
export function originsOf(node: Node, scope: Scope, depth = 0): readonly Origin[] {
  if (depth > MAX_DEPTH) return [];
  const read = (part: Node): readonly Origin[] => originsOf(part, scope, depth + 1);
  switch (node.type) {
    case "Identifier":
      return nameOrigins(node.name, scope, depth);
    case "MemberExpression":
    case "OptionalMemberExpression":
      return memberOrigins(read(node.object), keysOf(node, scope));
    case "CallExpression":
    case "OptionalCallExpression":
      return callOrigins(node, scope, depth);
    case "SequenceExpression":
      return read(node.expressions.at(-1) as Node);
    case "ConditionalExpression":
      return [...read(node.consequent), ...read(node.alternate)].slice(0, MAX_ORIGINS);
    case "LogicalExpression":
      return [...read(node.left), ...read(node.right)].slice(0, MAX_ORIGINS);
    case "AssignmentExpression":
      return read(node.right);
    case "AwaitExpression":
      return read(node.argument);
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
    case "TSInstantiationExpression":
    case "ParenthesizedExpression":
      return read(node.expression);
    case "ImportExpression":
      return constantsOf(node.source, scope).map((specifier) => `module:${String(specifier)}`);
    default:
      if (FUNCTION_NODE.test(node.type)) return ["function"];
      return LITERAL_NODE.test(node.type) ? ["value"] : [];
  }
}

function nameOrigins(name: string, scope: Scope, depth: number): readonly Origin[] {
  const binding = lookUp(scope, name);
  if (binding === undefined) {
    if (GLOBAL_OBJECTS.has(name)) return ["global"];
    return name in globalThis || OTHER_GLOBALS.has(name) ? [`global.${name}`] : [];
  }
  if (binding.imported !== undefined) {
    const { specifier, name: exported } = binding.imported;
    const same = SAME_AS_GLOBAL[specifier.replace(/^node:/, "")];
    if (same !== undefined) {
      return [exported === "*" || exported === "default" ? same : `${same}.${exported}`];
    }
    const isWhole = exported === "*" || exported === "default";
    return [isWhole ? `module:${specifier}` : `module:${specifier}.${exported}`];
  }
  const values = binding.values.slice(0, MAX_ORIGINS);
  return values.flatMap((value) => originsOf(value.node, value.scope, depth + 1)).slice(0, MAX_ORIGINS);
}

/** What a member of something stands for. */
export function memberOrigins(objects: readonly Origin[], keys: readonly string[]): Origin[] {
  if (objects.length === 0) return keys.includes("constructor") ? ["constructor"] : [];
  return objects.flatMap((object) => keys.flatMap((key) => memberOrigin(object, key)));
}

function memberOrigin(object: Origin, key: string): Origin[] {
  if (key === "constructor") return [constructorOf(object)];
  if (object.startsWith("descriptor:"))
    return key === "value" || key === "get" ? [object.slice("descriptor:".length)] : [];
  if (object === "global") return [GLOBAL_OBJECTS.has(key) ? "global" : `global.${key}`];
  if (SAME_FUNCTION.has(key) && object !== "value") return [object];
  if (object === "function" || object === "constructor") return key === "__proto__" ? ["function"] : [];
  if (object === "value") return [key === "__proto__" ? "value" : `member:${key}`];
  if (object.startsWith("module:") && key === "default") return [object];
  return [`${object}.${key}`];
}

/** The constructor of a function makes code from text; that of a value is a function. */
function constructorOf(object: Origin): Origin {
  if (object === "value") return "constructor";
  if (object === "function" || object === "constructor" || object.startsWith("member:"))
    return "global.Function";
  if (object.startsWith("module:")) return "global.Function";
  if (object === "global.Function.prototype") return "global.Function";
  if (object.startsWith("global.") && !object.endsWith(".prototype"))
    return isCallable(object) ? "global.Function" : "constructor";
  return "constructor";
}

/** Whether a member of the language's globals is a function: `Object`, `Math.max`, `Array.prototype.map`. */
function isCallable(origin: Origin): boolean {
  let value: unknown = globalThis;
  for (const name of origin.split(".").slice(1)) {
    const holder = Object(value) as object;
    const descriptor = findDescriptor(holder, name);
    if (descriptor === undefined) return false;
    value = descriptor.value;
  }
  return typeof value === "function";
}

function findDescriptor(holder: object, name: string): PropertyDescriptor | undefined {
  for (let at: object | null = holder; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const descriptor = Object.getOwnPropertyDescriptor(at, name);
    if (descriptor !== undefined) return descriptor;
  }
  return undefined;
}

function callOrigins(
  { callee, arguments: args }: { callee: Node; arguments: readonly Node[] },
  scope: Scope,
  depth: number,
): readonly Origin[] {
  const [object, key] = args;
  const called = originsOf(callee, scope, depth + 1);
  const keys = (): string[] => (key === undefined ? [] : constantsOf(key, scope).map(String));
  const objects = (): readonly Origin[] => (object === undefined ? [] : originsOf(object, scope, depth + 1));
  return called.flatMap((origin): readonly Origin[] => {
    switch (origin) {
      case "global.Reflect.get":
        return memberOrigins(objects(), keys());
      case "global.Object.getOwnPropertyDescriptor":
      case "global.Reflect.getOwnPropertyDescriptor":
        return memberOrigins(objects(), keys()).map((found) => `descriptor:${found}`);
      case "global.Object.getPrototypeOf":
      case "global.Reflect.getPrototypeOf":
      case "global.Object.freeze":
      case "global.Object":
      case "global.Object.assign":
      case "global.Object.create":
      case "global.structuredClone":
        return objects();
      case "global.require":
      case "global.process.getBuiltinModule":
        return object === undefined ? [] : constantsOf(object, scope).map((name) => `module:${String(name)}`);
      default:
        return isBound(callee) ? [origin] : [];
    }
  });
}

/** Whether a call gives back the function that it is a method of: `f.bind(…)`. */
function isBound(callee: Node): boolean {
  return (
    (callee.type === "MemberExpression" || callee.type === "OptionalMemberExpression") &&
    callee.property.type === "Identifier" &&
    callee.property.name === "bind"
  );
}

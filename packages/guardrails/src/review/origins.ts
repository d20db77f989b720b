import type { Node } from "@babel/types";
import type { ProgramParts } from "./collect.ts";
import { Constants } from "./constants.ts";
import { Evaluation } from "./evaluation.ts";
import { lookUp } from "./scopes.ts";
import type { Binding, Scope } from "./scopes.ts";

/**
 * The origin of an expression, as far as the program shows it: `global` (the global object), `global.Deno.run` (a
 * member of a global), `module:node:fs.readFile` (an import), `function` (some function), `value` (a literal),
 * `constructor` (the constructor of something), or `member:` and a name for a method of a literal.
 */
export type Origin = string;

const MAX_ORIGINS = 16;
/** The longest name of a module. */
export const MAX_SPECIFIER_CHARACTERS = 1_024;
/** Nothing is known of a member of a member of a member, and so on, whose path is longer. */
const MAX_CHARACTERS = 2 * MAX_SPECIFIER_CHARACTERS;
/** The names of the global object. */
const GLOBAL_OBJECTS = new Set(["globalThis", "self", "window", "global", "frames", "top"]);
/** Modules whose exports are globals too. */
const SAME_AS_GLOBAL: Readonly<Record<string, Origin | undefined>> = {
  process: "global.process",
  timers: "global",
};
/** Globals of the guest that this process may lack. */
const OTHER_GLOBALS = new Set(["Deno", "process", "require", "Worker", "SharedWorker"]);
/** Members of a function that stand for the function itself. */
const SAME_FUNCTION = new Set(["call", "apply", "bind"]);
/** Origins that lead to making code or to the runtime. They are kept where an expression can be too much. */
const IMPORTANT =
  /^(?:global(?:\.(?:eval|Function|Deno|process|require|Reflect))?|function|constructor|module:(?:node:)?vm)$/;

/** The different origins; of too many, those that rules are about and the first. */
function distinctOrigins(origins: readonly Origin[]): readonly Origin[] {
  if (origins.length <= 1) return origins;
  const distinct = [...new Set(origins)];
  if (distinct.length <= MAX_ORIGINS) return distinct;
  const rank = (origin: Origin): number => (IMPORTANT.test(origin) ? 0 : 1);
  return distinct.toSorted((one, other) => rank(one) - rank(other)).slice(0, MAX_ORIGINS);
}

/** The origin of a name that the program does not declare. */
function globalOrigins(name: string): readonly Origin[] {
  if (GLOBAL_OBJECTS.has(name)) return ["global"];
  return name in globalThis || OTHER_GLOBALS.has(name) ? [`global.${name}`] : [];
}

/** The origin of an imported name. */
function importOrigins({ specifier, name }: { specifier: string; name: string }): readonly Origin[] {
  if (specifier.length > MAX_SPECIFIER_CHARACTERS) return [];
  const isWhole = name === "*" || name === "default";
  const module = SAME_AS_GLOBAL[specifier.replace(/^node:/, "")] ?? `module:${specifier}`;
  return [isWhole ? module : `${module}.${name}`];
}

/** The origin of a member. */
export function memberOrigins(objects: readonly Origin[], keys: readonly string[]): readonly Origin[] {
  if (objects.length === 0) return keys.includes("constructor") ? ["constructor"] : [];
  return distinctOrigins(objects.flatMap((object) => keys.flatMap((key) => memberOrigin(object, key))));
}

function memberOrigin(object: Origin, key: string): Origin[] {
  if (object.length + key.length > MAX_CHARACTERS) return [];
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

const FUNCTION_NODE = /Function(?:Expression|Declaration)$|^Class(?:Expression|Declaration)$/;
const LITERAL_NODE = /Literal$|^ArrayExpression$|^ObjectExpression$|^NewExpression$/;

/** The origins of the expressions of a program, as far as the program shows them. */
class Origins extends Evaluation<Origin> {
  readonly #constants: Constants;

  constructor(bindings: readonly Binding[], constants: Constants) {
    super();
    this.#constants = constants;
    this.settle(bindings);
  }

  protected override read(node: Node, scope: Scope): readonly Origin[] {
    switch (node.type) {
      case "Identifier": {
        const binding = lookUp(scope, node.name);
        if (binding === undefined) return globalOrigins(node.name);
        return binding.imported === undefined ? this.valuesOf(binding) : importOrigins(binding.imported);
      }
      case "MemberExpression":
      case "OptionalMemberExpression":
        return memberOrigins(this.of(node.object, scope), this.#constants.keysOf(node, scope));
      case "CallExpression":
      case "OptionalCallExpression":
        return distinctOrigins(this.#call(node, scope));
      case "SequenceExpression":
        return this.of(node.expressions.at(-1) as Node, scope);
      case "ConditionalExpression":
        return this.join(this.of(node.consequent, scope), this.of(node.alternate, scope));
      case "LogicalExpression":
        return this.join(this.of(node.left, scope), this.of(node.right, scope));
      case "AssignmentExpression":
        return this.of(node.right, scope);
      case "AwaitExpression":
        return this.of(node.argument, scope);
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "TSNonNullExpression":
      case "TSTypeAssertion":
      case "TSInstantiationExpression":
      case "ParenthesizedExpression":
        return this.of(node.expression, scope);
      case "ImportExpression":
        return this.#modules(node.source, scope);
      default:
        if (FUNCTION_NODE.test(node.type)) return ["function"];
        return LITERAL_NODE.test(node.type) ? ["value"] : [];
    }
  }

  protected override join(known: readonly Origin[], found: readonly Origin[]): readonly Origin[] {
    if (found.every((origin) => known.includes(origin))) return known;
    const joined = distinctOrigins([...known, ...found]);
    const isSame = joined.length === known.length && joined.every((origin, at) => origin === known[at]);
    return isSame ? known : joined;
  }

  #call(
    { callee, arguments: [object, key] }: { callee: Node; arguments: readonly Node[] },
    scope: Scope,
  ): readonly Origin[] {
    const keys = (): readonly string[] => (key === undefined ? [] : this.#constants.textsOf(key, scope));
    const objects = (): readonly Origin[] => (object === undefined ? [] : this.of(object, scope));
    return this.of(callee, scope).flatMap((origin): readonly Origin[] => {
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
          return object === undefined ? [] : this.#modules(object, scope);
        default:
          return isBound(callee) ? [origin] : [];
      }
    });
  }

  #modules(specifier: Node, scope: Scope): readonly Origin[] {
    return this.#constants
      .textsOf(specifier, scope)
      .flatMap((name) => importOrigins({ specifier: name, name: "*" }));
  }
}

/** Whether a call gives back the function that it is a method of: `f.bind(…)`. */
function isBound(callee: Node): boolean {
  return (
    (callee.type === "MemberExpression" || callee.type === "OptionalMemberExpression") &&
    callee.property.type === "Identifier" &&
    callee.property.name === "bind"
  );
}

/** Constants and origins of the expressions of a program, for the rules. */
export interface Values {
  constants: Constants;
  origins: Origins;
}

/** Finds out what the variables, members, calls and texts of a program can be. */
export function evaluate({ bindings, calls, members, texts }: ProgramParts): Values {
  const constants = new Constants(bindings);
  const origins = new Origins(bindings, constants);
  // From the inside out, so that a long chain is not cut off.
  for (const { node, scope } of [...texts, ...calls, ...members].toReversed()) {
    constants.of(node, scope);
    origins.of(node, scope);
  }
  return { constants, origins };
}

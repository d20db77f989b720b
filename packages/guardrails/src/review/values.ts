import type { Node } from "@babel/types";
import { lookUp, type Binding, type Scope } from "@cem/program";
import type { ProgramParts } from "./collect.ts";

/**
 * The origin of an expression, as far as it can be determined: `global` (the global object), `global.Deno.run` (a
 * member of a global), `module:node:fs.readFile` (an import), `function` (a function of the program) or `constructor`
 * (the constructor of something).
 */
export type Origin = string;

export interface KnownText {
  node: Node;
  text: string;
}

export const MAX_SPECIFIER_CHARACTERS = 1_024;
/** Maximum length of an origin. Longer chains of members are not tracked. */
const MAX_ORIGIN_CHARACTERS = 2 * MAX_SPECIFIER_CHARACTERS;
/** Number of characters of texts evaluated beyond twice the program's length. Concatenation can produce many more. */
const MORE_CHARACTERS = 65_536;
/** Maximum length of a concatenated text. */
const MAX_TEXT_CHARACTERS = 8_192;
/** Maximum depth to which an expression is followed into its parts. */
const MAX_DEPTH = 64;
/** Maximum number of values of a variable whose origins are tracked. */
const MAX_VALUES = 8;

const GLOBAL_OBJECTS = new Set(["globalThis", "self", "window", "global", "frames", "top"]);
/** Modules whose exports are globals too. */
const SAME_AS_GLOBAL: ReadonlyMap<string, Origin> = new Map([["process", "global.process"]]);
/** Globals of the guest that this process may lack. */
const OTHER_GLOBALS = new Set(["Deno", "module", "process", "require"]);
/** Members of a function that stand for the function itself. */
const SAME_FUNCTION = new Set(["call", "apply", "bind"]);
export const LOADERS: ReadonlySet<Origin | undefined> = new Set([
  "global.require",
  "global.module.require",
  "global.process.getBuiltinModule",
  "global.process.mainModule.require",
]);
const CREATE_REQUIRE = /^module:(?:node:)?module(?:\.Module)?\.createRequire$/;
const FUNCTION_NODE = /Function(?:Expression|Declaration)$|^Class(?:Expression|Declaration)$/;

/**
 * Texts and origins of the expressions of one program, as far as they can be determined: through variables, members and
 * concatenation. Each expression is evaluated once.
 */
export class Values {
  readonly #texts = new Map<Node, string | undefined>();
  readonly #origins = new Map<Node, Origin | undefined>();
  #depth = 0;

  readonly #parts: ProgramParts;

  constructor(parts: ProgramParts) {
    const { references, texts, calls, members } = (this.#parts = parts);
    // Variables in order, the rest from the inside out, so that the depth limit does not cut chains.
    for (const { node, scope } of [...references, ...[...texts, ...calls, ...members].toReversed()]) {
      this.textOf(node, scope);
      this.originOf(node, scope);
    }
  }

  /** The text of an expression, if it is a known text. */
  textOf(expression: Node, scope: Scope): string | undefined {
    const node = unwrapped(expression);
    return this.#once(this.#texts, node, () => {
      const text = this.#readText(node, scope);
      const isJoined = node.type === "BinaryExpression" || node.type === "TemplateLiteral";
      return isJoined && text !== undefined && text.length > MAX_TEXT_CHARACTERS ? undefined : text;
    });
  }

  /** The known texts of the program, up to a total length. */
  *knownTexts(): Generator<KnownText> {
    const seen = new Set<string>();
    let left = 2 * this.#parts.length + MORE_CHARACTERS;
    for (const { node, scope } of this.#parts.texts) {
      const text = this.textOf(node, scope);
      if (text === undefined) continue;
      if (!seen.has(text)) left -= text.length;
      if (left < 0) return;
      seen.add(text);
      yield { node, text };
    }
  }

  /** The name of a member expression or a property, if known. */
  keyOf(
    { property, computed }: { property: Node; computed?: boolean | undefined },
    scope: Scope,
  ): string | undefined {
    if (computed !== true && property.type === "Identifier") return property.name;
    return this.textOf(property, scope);
  }

  originOf(expression: Node, scope: Scope): Origin | undefined {
    const node = unwrapped(expression);
    return this.#once(this.#origins, node, () => {
      const origin = this.#readOrigin(node, scope);
      return origin === undefined || origin.length > MAX_ORIGIN_CHARACTERS ? undefined : origin;
    });
  }

  #once<T>(known: Map<Node, T | undefined>, node: Node, read: () => T | undefined): T | undefined {
    if (known.has(node)) return known.get(node);
    if (this.#depth === MAX_DEPTH) return undefined;
    // An expression that depends on itself adds nothing.
    known.set(node, undefined);
    this.#depth += 1;
    const found = read();
    this.#depth -= 1;
    known.set(node, found);
    return found;
  }

  #readText(node: Node, scope: Scope): string | undefined {
    switch (node.type) {
      case "StringLiteral":
        return node.value;
      case "NumericLiteral":
        return String(node.value);
      case "TemplateLiteral": {
        const parts = node.quasis.flatMap(({ value }, at) => {
          const expression = node.expressions[at];
          const text = value.cooked ?? value.raw;
          return expression === undefined ? [text] : [text, this.textOf(expression, scope)];
        });
        return parts.includes(undefined) ? undefined : parts.join("");
      }
      case "BinaryExpression": {
        if (node.operator !== "+") return undefined;
        if (node.left.type === "NumericLiteral" && node.right.type === "NumericLiteral") return undefined;
        const [left, right] = [this.textOf(node.left, scope), this.textOf(node.right, scope)];
        return left === undefined || right === undefined ? undefined : left + right;
      }
      case "Identifier": {
        const values = lookUp(scope, node.name)?.values ?? [];
        const [value] = values;
        // A variable that is reassigned may have any value.
        return value === undefined || values.length > 1 ? undefined : this.textOf(value.node, value.scope);
      }
      default:
        return undefined;
    }
  }

  #readOrigin(node: Node, scope: Scope): Origin | undefined {
    switch (node.type) {
      case "Identifier": {
        const binding = lookUp(scope, node.name);
        return binding === undefined ? globalOrigin(node.name) : this.#bindingOrigin(binding);
      }
      case "MemberExpression":
      case "OptionalMemberExpression": {
        const object = this.originOf(node.object, scope);
        const key = this.keyOf(node, scope);
        return key === undefined ? undefined : memberOrigin(object, key);
      }
      case "CallExpression":
      case "OptionalCallExpression": {
        const called = this.originOf(node.callee, scope);
        // `bind` returns the function that it is called on.
        if ("property" in node.callee && this.keyOf(node.callee, scope) === "bind") return called;
        if (called !== undefined && CREATE_REQUIRE.test(called)) return "global.require";
        const [first] = node.arguments;
        return first !== undefined && LOADERS.has(called) ? this.#moduleOrigin(first, scope) : undefined;
      }
      case "AwaitExpression":
        return this.originOf(node.argument, scope);
      case "ImportExpression":
        return this.#moduleOrigin(node.source, scope);
      default:
        return FUNCTION_NODE.test(node.type) ? "function" : undefined;
    }
  }

  #bindingOrigin({ imported, values }: Binding): Origin | undefined {
    if (imported !== undefined) return importOrigin(imported.specifier, imported.name);
    for (const { node, scope } of values.slice(0, MAX_VALUES)) {
      const origin = this.originOf(node, scope);
      if (origin !== undefined) return origin;
    }
    return undefined;
  }

  #moduleOrigin(specifier: Node, scope: Scope): Origin | undefined {
    const name = this.textOf(specifier, scope);
    return name === undefined ? undefined : importOrigin(name, "*");
  }
}

/** Unwraps type assertions and parentheses; of a sequence, returns the last expression. */
function unwrapped(expression: Node): Node {
  let node = expression;
  for (;;) {
    switch (node.type) {
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "TSNonNullExpression":
      case "TSTypeAssertion":
      case "TSInstantiationExpression":
      case "ParenthesizedExpression":
        node = node.expression;
        break;
      case "SequenceExpression":
        node = node.expressions.at(-1) as Node;
        break;
      case "AssignmentExpression":
        if (node.operator !== "=") return node;
        node = node.right;
        break;
      default:
        return node;
    }
  }
}

/** The origin of a name that the program does not declare. */
function globalOrigin(name: string): Origin | undefined {
  if (GLOBAL_OBJECTS.has(name)) return "global";
  return name in globalThis || OTHER_GLOBALS.has(name) ? `global.${name}` : undefined;
}

function importOrigin(specifier: string, name: string): Origin | undefined {
  if (specifier.length > MAX_SPECIFIER_CHARACTERS) return undefined;
  const module = SAME_AS_GLOBAL.get(specifier.replace(/^node:/, "")) ?? `module:${specifier}`;
  return name === "*" || name === "default" ? module : `${module}.${name}`;
}

function memberOrigin(object: Origin | undefined, key: string): Origin | undefined {
  // The constructor of a function, or of a constructor, generates code from text.
  if (key === "constructor")
    return object === "function" || object === "constructor" ? "global.Function" : "constructor";
  if (object === undefined || object === "constructor") return undefined;
  if (object === "global") return GLOBAL_OBJECTS.has(key) ? "global" : `global.${key}`;
  if (SAME_FUNCTION.has(key)) return object;
  if (object === "function") return key === "__proto__" ? object : undefined;
  return object.startsWith("module:") && key === "default" ? object : `${object}.${key}`;
}

import type { Node } from "@babel/types";
import { lookUp } from "./scopes.ts";
import type { Scope } from "./scopes.ts";

/** A value that can be told without running the program. */
export type Constant = string | number | boolean | null | undefined | readonly Constant[];

/** The most values that one expression is followed to, the longest text, and the deepest nesting. */
const MAX_VALUES = 8;
const MAX_CHARACTERS = 65_536;
const MAX_DEPTH = 24;

/** Methods of texts and lists that are carried out: those that are used to put names together. */
const TEXT_METHODS = new Set([
  "at",
  "charAt",
  "concat",
  "normalize",
  "padEnd",
  "padStart",
  "repeat",
  "replace",
  "replaceAll",
  "slice",
  "split",
  "substr",
  "substring",
  "toLowerCase",
  "toString",
  "toUpperCase",
  "trim",
  "valueOf",
]);
const LIST_METHODS = new Set(["at", "concat", "flat", "join", "reverse", "slice", "toReversed"]);
const DECODERS: Readonly<Record<string, (text: string) => string>> = {
  atob,
  decodeURI,
  decodeURIComponent,
  unescape: (text) =>
    text.replaceAll(/%u([0-9a-f]{4})|%([0-9a-f]{2})/giu, (_, long?: string, short?: string) =>
      String.fromCharCode(Number.parseInt(long ?? short ?? "0", 16)),
    ),
  String,
};

/**
 * The values that an expression can have, as far as they can be told: literals, joined texts, variables that hold such,
 * and the usual ways to put a text together or decode it.
 *
 * @returns an empty list where nothing is known.
 */
export function constantsOf(node: Node, scope: Scope, depth = 0): readonly Constant[] {
  if (depth > MAX_DEPTH) return [];
  const read = (part: Node): readonly Constant[] => constantsOf(part, scope, depth + 1);
  switch (node.type) {
    case "StringLiteral":
    case "NumericLiteral":
    case "BooleanLiteral":
      return [node.value];
    case "NullLiteral":
      return [null];
    case "TemplateLiteral":
      return joined(
        node.quasis.map(({ value }) => value.cooked ?? value.raw),
        node.expressions.map((part) => read(part)),
      );
    case "TaggedTemplateExpression":
      return isMember(node.tag, "String", "raw")
        ? joined(
            node.quasi.quasis.map(({ value }) => value.raw),
            node.quasi.expressions.map((part) => read(part)),
          )
        : [];
    case "BinaryExpression":
      return node.operator === "+" ? pairs(read(node.left), read(node.right), add) : [];
    case "UnaryExpression":
      return read(node.argument).flatMap((value) => unary(node.operator, value));
    case "ArrayExpression": {
      const elements = node.elements.map((element) => (element === null ? [undefined] : read(element)));
      return elements.every(({ length }) => length > 0) ? [elements.map(([first]) => first)] : [];
    }
    case "Identifier": {
      const values = lookUp(scope, node.name)?.values ?? [];
      return values
        .slice(0, MAX_VALUES)
        .flatMap((value) => constantsOf(value.node, value.scope, depth + 1))
        .slice(0, MAX_VALUES);
    }
    case "SequenceExpression":
      return read(node.expressions.at(-1) as Node);
    case "ConditionalExpression":
      return [...read(node.consequent), ...read(node.alternate)].slice(0, MAX_VALUES);
    case "LogicalExpression":
      return [...read(node.left), ...read(node.right)].slice(0, MAX_VALUES);
    case "AssignmentExpression":
      return read(node.right);
    case "MemberExpression":
    case "OptionalMemberExpression":
      return memberConstants(node.object, keysOf(node, scope, depth + 1), scope, depth);
    case "CallExpression":
    case "OptionalCallExpression":
      return callConstants(node, scope, depth);
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
    case "ParenthesizedExpression":
      return read(node.expression);
    default:
      return [];
  }
}

/** The names that a member expression can read. */
export function keysOf(
  { property, computed }: { property: Node; computed?: boolean | undefined },
  scope: Scope,
  depth = 0,
): readonly string[] {
  if (computed !== true) {
    if (property.type === "Identifier") return [property.name];
    return property.type === "StringLiteral" ? [property.value] : [];
  }
  return constantsOf(property, scope, depth).map((value) => textOf(value));
}

function memberConstants(
  object: Node,
  keys: readonly string[],
  scope: Scope,
  depth: number,
): readonly Constant[] {
  if (object.type === "ObjectExpression") {
    return object.properties.flatMap((property) => {
      if (property.type !== "ObjectProperty") return [];
      const [name] = keysOf({ property: property.key, computed: property.computed }, scope, depth + 1);
      return name !== undefined && keys.includes(name) ? constantsOf(property.value, scope, depth + 1) : [];
    });
  }
  if (object.type === "Identifier") {
    const values = lookUp(scope, object.name)?.values ?? [];
    const objects = values.filter(({ node }) => node.type === "ObjectExpression").slice(0, MAX_VALUES);
    const found = objects.flatMap((value) => memberConstants(value.node, keys, value.scope, depth + 1));
    if (found.length > 0) return found.slice(0, MAX_VALUES);
  }
  return constantsOf(object, scope, depth + 1).flatMap((value) =>
    keys.flatMap((key): Constant[] => {
      if (typeof value !== "string" && !Array.isArray(value)) return [];
      if (key === "length") return [(value as string | readonly Constant[]).length];
      return /^\d{1,6}$/.test(key) ? [(value as string | readonly Constant[])[Number(key)]] : [];
    }),
  );
}

function callConstants(
  { callee, arguments: given }: { callee: Node; arguments: readonly Node[] },
  scope: Scope,
  depth: number,
): readonly Constant[] {
  const known = given.map((part) =>
    constantsOf(part.type === "SpreadElement" ? part.argument : part, scope, depth + 1),
  );
  if (known.some(({ length }) => length === 0)) return [];
  const args = known.map(([first]) => first);
  if (callee.type === "Identifier") {
    const decode = Object.hasOwn(DECODERS, callee.name) ? DECODERS[callee.name] : undefined;
    return decode === undefined || lookUp(scope, callee.name) !== undefined
      ? []
      : attempt(() => decode(textOf(args[0])));
  }
  if (callee.type !== "MemberExpression" && callee.type !== "OptionalMemberExpression") return [];
  const [name = ""] = keysOf(callee, scope, depth + 1);
  if (callee.object.type === "Identifier" && callee.object.name === "String") {
    const codes = args.flat(2).map(Number);
    if (name === "fromCharCode" || name === "fromCodePoint") return attempt(() => String[name](...codes));
  }
  if (name === "from" && callee.object.type === "Identifier") return decodedBuffer(callee.object.name, args);
  return constantsOf(callee.object, scope, depth + 1)
    .slice(0, MAX_VALUES)
    .flatMap((value) => attempt(() => applyMethod(value, name, args)));
}

/** `Buffer.from(text, encoding)` as the text that it stands for. */
function decodedBuffer(name: string, [value, encoding]: readonly Constant[]): readonly Constant[] {
  if (name !== "Buffer")
    return Array.isArray(value) ? [value] : typeof value === "string" ? [Array.from(value)] : [];
  if (Array.isArray(value)) return attempt(() => String.fromCharCode(...value.map(Number)));
  const coding = encoding === "hex" || encoding === "base64" || encoding === "base64url" ? encoding : "utf8";
  return typeof value === "string" ? attempt(() => Buffer.from(value, coding).toString("utf8")) : [];
}

function applyMethod(value: Constant, name: string, args: readonly Constant[]): Constant {
  if (Array.isArray(value)) {
    if (!LIST_METHODS.has(name)) throw new TypeError(name);
    const copy = [...(value as readonly Constant[])];
    return (copy as unknown as Record<string, (...given: readonly Constant[]) => Constant>)[name]?.(...args);
  }
  if (typeof value === "number" && name === "toString") return value.toString(Number(args[0] ?? 10));
  if (typeof value !== "string" || !TEXT_METHODS.has(name)) throw new TypeError(name);
  const [first, second] = args;
  const grows = name === "repeat" ? Number(first) * value.length : name.startsWith("pad") ? Number(first) : 0;
  if (grows > MAX_CHARACTERS) throw new RangeError(name);
  if (name === "replace" || name === "replaceAll") return value[name](textOf(first), () => textOf(second));
  return (value as unknown as Record<string, (...given: readonly Constant[]) => Constant>)[name]?.(...args);
}

function attempt(work: () => Constant): readonly Constant[] {
  try {
    const value = work();
    return value === undefined || (typeof value === "string" && value.length > MAX_CHARACTERS) ? [] : [value];
  } catch {
    return [];
  }
}

function joined(texts: readonly string[], parts: readonly (readonly Constant[])[]): readonly Constant[] {
  let all: readonly string[] = [texts[0] ?? ""];
  for (const [at, values] of parts.entries()) {
    all = pairs(
      all,
      values,
      (left, right) => `${textOf(left)}${textOf(right)}${texts[at + 1] ?? ""}`,
    ) as string[];
  }
  return all;
}

function pairs(
  left: readonly Constant[],
  right: readonly Constant[],
  join: (left: Constant, right: Constant) => Constant,
): readonly Constant[] {
  return left
    .flatMap((one) => right.map((other) => join(one, other)))
    .filter((value) => typeof value !== "string" || value.length <= MAX_CHARACTERS)
    .slice(0, MAX_VALUES);
}

function add(left: Constant, right: Constant): Constant {
  if (typeof left === "number" && typeof right === "number") return left + right;
  return `${textOf(left)}${textOf(right)}`;
}

function unary(operator: string, value: Constant): Constant[] {
  if (operator === "!") return [value === "" || value === 0 || value === false || value == null];
  if (operator === "-" || operator === "+") return [operator === "-" ? -Number(value) : Number(value)];
  return operator === "void" ? [undefined] : [];
}

/** A constant as JavaScript makes it a text. */
function textOf(value: Constant): string {
  return Array.isArray(value)
    ? value.map((one) => (one == null ? "" : textOf(one as Constant))).join(",")
    : String(value);
}

function isMember(node: Node, object: string, property: string): boolean {
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return false;
  return (
    node.object.name === object && node.property.type === "Identifier" && node.property.name === property
  );
}

import type { Node } from "@babel/types";
import {
  add,
  applyMethod,
  decoderOf,
  fromValue,
  isKnownMethod,
  isSame,
  MAX_SIZE,
  MAX_SMALL_SIZE,
  sizeOf,
  textOf,
  unary,
} from "./constant.ts";
import type { Constant } from "./constant.ts";
import { Evaluation } from "./evaluation.ts";
import { lookUp } from "./scopes.ts";
import type { Binding, Scope, ScopedNode } from "./scopes.ts";

/** The most values that one expression is followed to. */
export const MAX_VALUES = 8;
/** The most that large values of one program together may take. Of those beyond it nothing is known. */
const MAX_LARGE_SIZE = 2_097_152;

/**
 * The values that the expressions of a program can have, as far as they are known without running it: literals, joined
 * texts, variables that hold such, and the usual ways to put a text together or decode it.
 */
export class Constants extends Evaluation<Constant> {
  #largeSize = 0;
  /** The lists that were read last, so that one that is read again is the same. */
  readonly #lists = new Map<Node, readonly Constant[]>();
  /** The values of the properties of object literals. */
  readonly #properties = new Map<Node, Map<string, Node[]>>();
  /** The object literals that variables hold. */
  readonly #objects = new Map<Binding, readonly ScopedNode[]>();

  constructor(bindings: readonly Binding[]) {
    super();
    this.settle(bindings);
  }

  /** The names that a member expression can read. A full list ({@link MAX_VALUES}) may lack some. */
  keysOf(
    { property, computed }: { property: Node; computed?: boolean | undefined },
    scope: Scope,
  ): readonly string[] {
    if (computed !== true) {
      if (property.type === "Identifier") return [property.name];
      return property.type === "StringLiteral" ? [property.value] : [];
    }
    return this.textsOf(property, scope);
  }

  /** The values that an expression can have, as texts. */
  textsOf(node: Node, scope: Scope): readonly string[] {
    return this.of(node, scope).map((value) => {
      const isLargeList = Array.isArray(value) && sizeOf(value) > MAX_SMALL_SIZE;
      return isLargeList ? "" : textOf(value);
    });
  }

  protected override read(node: Node, scope: Scope): readonly Constant[] {
    const read = (part: Node): readonly Constant[] => this.of(part, scope);
    switch (node.type) {
      case "StringLiteral":
      case "NumericLiteral":
      case "BooleanLiteral":
        return [node.value];
      case "NullLiteral":
        return [null];
      case "TemplateLiteral":
        return this.#joined(
          node.quasis.map(({ value }) => value.cooked ?? value.raw),
          node.expressions.map((part) => read(part)),
        );
      case "TaggedTemplateExpression":
        return isMember(node.tag, "String", "raw")
          ? this.#joined(
              node.quasi.quasis.map(({ value }) => value.raw),
              node.quasi.expressions.map((part) => read(part)),
            )
          : [];
      case "BinaryExpression":
        return node.operator === "+" ? this.#pairs(read(node.left), read(node.right), add) : [];
      case "UnaryExpression":
        return read(node.argument).flatMap((value) => unary(node.operator, value));
      case "ArrayExpression": {
        const elements = node.elements.map((element) => (element === null ? [undefined] : read(element)));
        return elements.every(({ length }) => length > 0)
          ? this.#list(
              node,
              elements.map(([first]) => first),
            )
          : [];
      }
      case "Identifier": {
        const binding = lookUp(scope, node.name);
        return binding === undefined ? [] : this.valuesOf(binding);
      }
      case "SequenceExpression":
        return read(node.expressions.at(-1) as Node);
      case "ConditionalExpression":
        return this.join(read(node.consequent), read(node.alternate));
      case "LogicalExpression":
        return this.join(read(node.left), read(node.right));
      case "AssignmentExpression":
        return read(node.right);
      case "MemberExpression":
      case "OptionalMemberExpression":
        return this.#member(node.object, this.keysOf(node, scope), scope);
      case "CallExpression":
      case "OptionalCallExpression":
        return this.#call(node, scope).filter((value) => sizeOf(value) <= MAX_SIZE);
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

  protected override join(known: readonly Constant[], found: readonly Constant[]): readonly Constant[] {
    if (found.length === 0 || known.length === MAX_VALUES) return known;
    const joined = distinct([...known, ...found]);
    return joined.length === known.length ? known : joined;
  }

  protected override forget(): void {
    super.forget();
    this.#properties.clear();
  }

  #member(object: Node, keys: readonly string[], scope: Scope): readonly Constant[] {
    if (object.type === "ObjectExpression") return this.#property({ node: object, scope }, keys);
    const held = object.type === "Identifier" ? this.#objectsIn(object.name, scope) : [];
    const found = held.flatMap((each) => this.#property(each, keys));
    if (found.length > 0) return distinct(found);
    const values = this.of(object, scope).flatMap((value) =>
      keys.flatMap((key): Constant[] => {
        if (typeof value !== "string" && !Array.isArray(value)) return [];
        if (key === "length") return [(value as string | readonly Constant[]).length];
        return /^\d{1,6}$/.test(key) ? [(value as string | readonly Constant[])[Number(key)]] : [];
      }),
    );
    return distinct(values);
  }

  #property({ node, scope }: ScopedNode, keys: readonly string[]): readonly Constant[] {
    const properties = this.#propertiesOf(node, scope);
    const values = keys.flatMap((key) => properties.get(key) ?? []);
    return distinct(values.slice(0, MAX_VALUES).flatMap((value) => this.of(value, scope)));
  }

  #propertiesOf(object: Node, scope: Scope): Map<string, Node[]> {
    const known = this.#properties.get(object);
    if (known !== undefined || object.type !== "ObjectExpression") return known ?? new Map();
    const properties = new Map<string, Node[]>();
    // Computed names may be members of the same object.
    this.#properties.set(object, properties);
    for (const property of object.properties) {
      if (property.type !== "ObjectProperty") continue;
      const [name] = this.keysOf({ property: property.key, computed: property.computed }, scope);
      if (name === undefined) continue;
      const values = properties.get(name);
      if (values === undefined) properties.set(name, [property.value]);
      else values.push(property.value);
    }
    return properties;
  }

  #objectsIn(name: string, scope: Scope): readonly ScopedNode[] {
    const binding = lookUp(scope, name);
    if (binding === undefined) return [];
    const known = this.#objects.get(binding);
    if (known !== undefined) return known;
    const objects = binding.values.filter(({ node }) => node.type === "ObjectExpression");
    const few = objects.slice(0, MAX_VALUES);
    this.#objects.set(binding, few);
    return few;
  }

  #call(
    { callee, arguments: given }: { callee: Node; arguments: readonly Node[] },
    scope: Scope,
  ): readonly Constant[] {
    const read = (): readonly Constant[] | undefined => this.#arguments(given, scope);
    if (callee.type === "Identifier") {
      const decode = lookUp(scope, callee.name) === undefined ? decoderOf(callee.name) : undefined;
      const args = decode && read();
      return args === undefined ? [] : attempt(() => decode?.(textOf(args[0])));
    }
    if (callee.type !== "MemberExpression" && callee.type !== "OptionalMemberExpression") return [];
    const [name = ""] = this.keysOf(callee, scope);
    const holder = callee.object.type === "Identifier" ? callee.object.name : undefined;
    const makesText = holder === "String" && (name === "fromCharCode" || name === "fromCodePoint");
    const makesValue = holder !== undefined && name === "from";
    const args = makesText || makesValue || isKnownMethod(name) ? read() : undefined;
    if (args === undefined) return [];
    if (makesText) return attempt(() => String[name](...args.flat(2).map(Number)));
    if (makesValue) return attempt(() => fromValue(holder, args));
    return this.of(callee.object, scope).flatMap((value) =>
      this.#affords(sizeOf(value)) ? attempt(() => applyMethod(value, name, args)) : [],
    );
  }

  /** The arguments of a call; `undefined` where they are not known. */
  #arguments(given: readonly Node[], scope: Scope): readonly Constant[] | undefined {
    const known = given.map((part) => this.of(part.type === "SpreadElement" ? part.argument : part, scope));
    if (known.some(({ length }) => length === 0)) return undefined;
    const args = known.map(([first]) => first);
    return this.#affords(args.reduce((sum: number, value) => sum + sizeOf(value), 0)) ? args : undefined;
  }

  #list(node: Node, items: readonly Constant[]): readonly Constant[] {
    const last = this.#lists.get(node);
    const isKnown = last !== undefined && last.every((item, at) => Object.is(item, items[at]));
    const list = isKnown ? last : items;
    this.#lists.set(node, list);
    return sizeOf(list) <= MAX_SIZE ? [list] : [];
  }

  #joined(texts: readonly string[], parts: readonly (readonly Constant[])[]): readonly Constant[] {
    let all: readonly Constant[] = [texts[0] ?? ""];
    for (const [at, values] of parts.entries()) {
      const next = texts[at + 1] ?? "";
      all = this.#pairs(all, values, (left, right) => `${textOf(left)}${textOf(right)}${next}`);
    }
    return all;
  }

  /** Combines each value of the one with each of the other. */
  #pairs(
    left: readonly Constant[],
    right: readonly Constant[],
    make: (left: Constant, right: Constant) => Constant,
  ): readonly Constant[] {
    const made: Constant[] = [];
    for (const one of left) {
      for (const other of right) {
        if (made.length === MAX_VALUES) return made;
        const size = sizeOf(one) + sizeOf(other);
        if (size <= MAX_SIZE && this.#affords(size)) addDistinct(make(one, other), made);
      }
    }
    return made;
  }

  #affords(size: number): boolean {
    if (size > MAX_SMALL_SIZE) this.#largeSize += size;
    return size <= MAX_SMALL_SIZE || this.#largeSize <= MAX_LARGE_SIZE;
  }
}

/** The first different values. */
function distinct(values: readonly Constant[]): readonly Constant[] {
  if (values.length <= 1) return values;
  const kept: Constant[] = [];
  for (const value of values) {
    if (kept.length === MAX_VALUES) break;
    addDistinct(value, kept);
  }
  return kept;
}

function addDistinct(value: Constant, values: Constant[]): void {
  if (!values.some((other) => isSame(value, other))) values.push(value);
}

function attempt(work: () => Constant): readonly Constant[] {
  try {
    const value = work();
    return value === undefined ? [] : [value];
  } catch {
    return [];
  }
}

function isMember(node: Node, object: string, property: string): boolean {
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return false;
  return (
    node.object.name === object && node.property.type === "Identifier" && node.property.name === property
  );
}

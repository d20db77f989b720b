import type { Node } from "@babel/types";
import type { Constants } from "./constants.ts";
import { Evaluation } from "./evaluation.ts";
import { distinctOrigins, globalOrigins, importOrigins, memberOrigins } from "./member-origins.ts";
import type { Origin } from "./member-origins.ts";
import { lookUp } from "./scopes.ts";
import type { Binding, Scope } from "./scopes.ts";

const FUNCTION_NODE = /Function(?:Expression|Declaration)$|^Class(?:Expression|Declaration)$/;
const LITERAL_NODE = /Literal$|^ArrayExpression$|^ObjectExpression$|^NewExpression$/;

/** The origins of the expressions of a program, as far as the program shows them. */
export class Origins extends Evaluation<Origin> {
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

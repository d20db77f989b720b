import type { Node } from "@babel/types";
import type { JsonValue } from "@cem/core";

const MAX_DEPTH = 16;
/** Maximum number of expressions in one value. Nested lists of the same constants grow quickly. */
const MAX_PARTS = 5_000;

/** The constants that an expression may name. */
export interface Constants {
  /** The value of a constant, with the constants that it may name in turn. */
  find(name: string): { node: Node; constants: Constants } | undefined;
}

const NONE: Constants = { find: () => undefined };

/**
 * Evaluates an expression of literals, arrays, objects, and names of constants with such values.
 *
 * @param constants - Default: names have no value.
 * @returns the value; `undefined` for any other expression, and for one of too many parts.
 */
export function literalValue(node: Node, constants: Constants = NONE): JsonValue | undefined {
  return evaluate(node, { constants, budget: { left: MAX_PARTS }, depth: 0 });
}

interface Place {
  constants: Constants;
  budget: { left: number };
  depth: number;
}

function evaluate(node: Node, place: Place): JsonValue | undefined {
  const { constants, budget, depth } = place;
  budget.left -= 1;
  if (depth > MAX_DEPTH || budget.left < 0) return undefined;
  const inner = (child: Node) => evaluate(child, { ...place, depth: depth + 1 });
  switch (node.type) {
    case "StringLiteral":
    case "NumericLiteral":
    case "BooleanLiteral":
      return node.value;
    case "NullLiteral":
      return null;
    case "TemplateLiteral":
      return node.expressions.length === 0 ? (node.quasis[0]?.value.cooked ?? undefined) : undefined;
    case "UnaryExpression": {
      const value = inner(node.argument);
      if (typeof value !== "number") return undefined;
      return node.operator === "-" ? -value : node.operator === "+" ? value : undefined;
    }
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "ParenthesizedExpression":
      return inner(node.expression);
    case "ArrayExpression": {
      if (node.elements.length > budget.left) return undefined;
      const values = node.elements.map((element) => (element ? inner(element) : undefined));
      return values.every((value) => value !== undefined) ? values : undefined;
    }
    case "ObjectExpression": {
      const entries: [string, JsonValue][] = [];
      for (const property of node.properties) {
        if (property.type !== "ObjectProperty" || property.computed) return undefined;
        const { key } = property;
        const value = inner(property.value);
        if (value === undefined || (key.type !== "Identifier" && key.type !== "StringLiteral"))
          return undefined;
        entries.push([key.type === "Identifier" ? key.name : key.value, value]);
      }
      return Object.fromEntries(entries);
    }
    case "Identifier": {
      const found = constants.find(node.name);
      return found && evaluate(found.node, { ...place, constants: found.constants, depth: depth + 1 });
    }
    default:
      return undefined;
  }
}

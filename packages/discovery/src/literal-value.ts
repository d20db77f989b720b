import type { Node } from "@babel/types";
import type { JsonValue } from "@cem/core";
import type { ModuleLoader } from "./schema-reader.ts";
import { findDeclaration } from "./find-declaration.ts";
import { nameOf, type SourceModule } from "./source-module.ts";

const MAX_DEPTH = 16;

/**
 * Evaluates an expression of literals, arrays and objects of them, and names of constants that hold such.
 *
 * @returns The value; `undefined` for any other expression.
 */
export function literalValue(
  node: Node,
  module: SourceModule,
  load: ModuleLoader,
  depth = 0,
): JsonValue | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const inner = (child: Node) => literalValue(child, module, load, depth + 1);
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
      const values = node.elements.map((element) => (element ? inner(element) : undefined));
      return values.every((value) => value !== undefined) ? values : undefined;
    }
    case "ObjectExpression": {
      const entries: [string, JsonValue][] = [];
      for (const property of node.properties) {
        const value =
          property.type === "ObjectProperty" && !property.computed ? inner(property.value) : undefined;
        if (value === undefined || property.type !== "ObjectProperty") return undefined;
        entries.push([nameOf(property.key), value]);
      }
      return Object.fromEntries(entries);
    }
    case "Identifier": {
      const found = findDeclaration(node.name, module, load);
      return found?.kind === "constant" ? literalValue(found.node, found.module, load, depth + 1) : undefined;
    }
    default:
      return undefined;
  }
}

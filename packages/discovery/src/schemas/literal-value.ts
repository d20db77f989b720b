import type { Node } from "@babel/types";
import type { JsonValue } from "@cem/core";
import { nameOf, type SourceModule } from "../source/source-module.ts";
import type { Declaration } from "../source/source-module.ts";
import type { ModuleLoader } from "./schema-reader.ts";

/** The most files that a name is followed through. */
const MAX_HOPS = 16;

/** Finds what a name in a file refers to, following imports. */
export function findDeclaration(
  name: string,
  module: SourceModule,
  load: ModuleLoader,
  hops = 0,
): Declaration | undefined {
  const local = module.declarations.get(name);
  if (local) return local;
  const origin = module.imports.get(name);
  return origin && findExported(origin.specifier, origin.imported, module, load, hops);
}

/** Finds what another file exports by a name, following its re-exports. */
export function findExported(
  specifier: string,
  name: string,
  from: SourceModule,
  load: ModuleLoader,
  hops = 0,
): Declaration | undefined {
  const module = hops >= MAX_HOPS ? undefined : loadResolved(from.file, specifier, load);
  if (!module) return undefined;
  const reexport = module.reexports.get(name);
  if (reexport) return findExported(reexport.specifier, reexport.imported, module, load, hops + 1);
  const found = findDeclaration(module.exported.get(name) ?? name, module, load, hops + 1);
  if (found) return found;
  for (const star of module.stars) {
    const behind = findExported(star, name, module, load, hops + 1);
    if (behind) return behind;
  }
  return undefined;
}

/** Loads a module by any specifier that TypeScript accepts for it: `./types.js` or `./types` for types.ts. */
function loadResolved(from: string, specifier: string, load: ModuleLoader): SourceModule | undefined {
  if (/\.m?ts$/.test(specifier)) return load(from, specifier);
  const stem = specifier.replace(/\.m?js$/, "");
  return load(from, `${stem}.ts`) ?? load(from, `${stem}.d.ts`) ?? load(from, specifier);
}

const MAX_DEPTH = 16;

/** The most expressions that one value is made of. Lists of lists of the same constants soon have more. */
const MAX_PARTS = 5_000;

/**
 * Evaluates an expression of literals, arrays and objects of them, and names of constants that hold such.
 *
 * @returns The value; `undefined` for any other expression, and for one of too many parts.
 */
export function literalValue(node: Node, module: SourceModule, load: ModuleLoader): JsonValue | undefined {
  return evaluate(node, { module, load, budget: { left: MAX_PARTS }, depth: 0 });
}

interface Place {
  module: SourceModule;
  load: ModuleLoader;
  budget: { left: number };
  depth: number;
}

function evaluate(node: Node, place: Place): JsonValue | undefined {
  const { module, load, budget, depth } = place;
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
        const value =
          property.type === "ObjectProperty" && !property.computed ? inner(property.value) : undefined;
        if (value === undefined || property.type !== "ObjectProperty") return undefined;
        entries.push([nameOf(property.key), value]);
      }
      return Object.fromEntries(entries);
    }
    case "Identifier": {
      const found = findDeclaration(node.name, module, load);
      if (found?.kind !== "constant") return undefined;
      return evaluate(found.node, { ...place, module: found.module, depth: depth + 1 });
    }
    default:
      return undefined;
  }
}

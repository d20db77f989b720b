import type { Node } from "@babel/types";

/** The names that a pattern binds, without those in its default values and computed keys. */
export function patternNames(pattern: Node): string[] {
  const names: string[] = [];
  const pending: (Node | null | undefined)[] = [pattern];
  while (pending.length > 0) {
    const node = pending.pop();
    switch (node?.type) {
      case "Identifier":
        names.push(node.name);
        break;
      case "AssignmentPattern":
        pending.push(node.left);
        break;
      case "RestElement":
        pending.push(node.argument);
        break;
      case "TSParameterProperty":
        pending.push(node.parameter);
        break;
      case "ArrayPattern":
        pending.push(...node.elements.toReversed());
        break;
      case "ObjectPattern":
        for (const property of node.properties.toReversed()) {
          pending.push(property.type === "RestElement" ? property : property.value);
        }
        break;
      default:
    }
  }
  return names;
}

import type { Node } from "@babel/types";
import { runtimeNodes } from "./syntax-tree.ts";

/**
 * Whether a program gives its value as CommonJS does: `module.exports = …` or `exports.name = …`. Not if it has a variable
 * of that name itself.
 */
export function assignsExports(root: Node, code: string): boolean {
  if (!/\bexports\b/.test(code)) return false;
  let assigns = false;
  for (const { node } of runtimeNodes(root)) {
    if (node.type === "VariableDeclarator" && (isNamed(node.id, "module") || isNamed(node.id, "exports"))) {
      return false;
    }
    if (node.type === "AssignmentExpression") assigns ||= isExports(node.left);
  }
  return assigns;
}

/** Whether it is `module.exports`, or a member of it or of `exports`. */
function isExports(target: Node): boolean {
  for (let at = target; at.type === "MemberExpression"; at = at.object) {
    const { object, property } = at;
    if (isNamed(object, "exports")) return true;
    if (isNamed(object, "module") && isNamed(property, "exports")) return true;
  }
  return false;
}

function isNamed(node: Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

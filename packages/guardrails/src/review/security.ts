import type { Finding } from "@cem/core";
import type { NodeVisit } from "@cem/program";
import type { ProgramParts, Report } from "./collect.ts";
import type { Values } from "./values.ts";

const MAKES_CODE = new Map([
  ["global.eval", "eval"],
  ["global.Function", "Function"],
  ["module:vm", "node:vm"],
  ["module:node:vm", "node:vm"],
]);
const COMPARISONS = new Set(["instanceof", "===", "!==", "==", "!=", "in"]);

/** Reports code that is generated from text. */
export function checkSecurity(parts: ProgramParts, values: Values, report: Report): void {
  for (const visit of [...parts.references, ...parts.members]) {
    const maker = MAKES_CODE.get(values.originOf(visit.node, visit.scope) ?? "");
    if (maker !== undefined && !isHarmlessUse(visit)) report.add(visit.node, makesCode(maker));
  }
  for (const { node, scope } of parts.calls) {
    // `new this.constructor()` creates another instance of the same class.
    if (node.type !== "CallExpression" && node.type !== "OptionalCallExpression") continue;
    if (values.originOf(node.callee, scope) === "constructor")
      report.add(node, makesCode("A function's constructor"));
  }
}

function makesCode(what: string): Finding {
  return {
    rule: "code-from-text",
    severity: "error",
    message: `${what} makes code from text.`,
    hint: "Write the code out.",
  };
}

/** Whether something is only compared or mentioned: `x instanceof Function`, `typeof eval`, `f.constructor.name`. */
function isHarmlessUse({ parent, key }: NodeVisit): boolean {
  if (parent === undefined) return true;
  if (parent.type === "UnaryExpression") return parent.operator === "typeof";
  if (parent.type === "BinaryExpression") return COMPARISONS.has(parent.operator);
  if (parent.type === "SwitchCase") return true;
  if (parent.type !== "MemberExpression" && parent.type !== "OptionalMemberExpression") return false;
  return (
    key === "object" &&
    !parent.computed &&
    parent.property.type === "Identifier" &&
    /^(?:name|length|prototype)$/.test(parent.property.name)
  );
}

import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import { runtimeNodes } from "@cem/program";
import type { Program } from "@cem/program";

/** Members of the runtime that start something outside the sandbox. The sandbox refuses them; this says it early. */
const RUNTIME_MEMBERS = new Map([
  ["Deno", new Set(["Command", "run", "dlopen", "kill"])],
  ["process", new Set(["binding", "dlopen", "kill"])],
]);

/** Signs of code that tries for more than a task needs. Warnings: the sandbox is what holds the code. */
export function findSecurityFaults(program: Program): Finding[] {
  const findings: Finding[] = [];
  for (const { node } of runtimeNodes(program.ast.program)) {
    const fault = faultOf(node);
    if (fault === undefined) continue;
    const { line = 1, column = 0 } = node.loc?.start ?? {};
    findings.push({ severity: "warning", line, column: column + 1, ...fault });
  }
  return findings;
}

function faultOf(node: Node): Pick<Finding, "rule" | "message"> | undefined {
  if (node.type === "CallExpression" || node.type === "NewExpression") {
    const called = node.callee.type === "Identifier" ? node.callee.name : "";
    if (called !== "Function" && (called !== "eval" || node.type === "NewExpression")) return undefined;
    return { rule: "code-from-text", message: `${called} makes code from text. Write the code out.` };
  }
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return undefined;
  const owner = node.object.name;
  const member = memberName(node.property);
  if (RUNTIME_MEMBERS.get(owner)?.has(member) !== true) return undefined;
  return { rule: "runtime-access", message: `${owner}.${member} is not available to code here.` };
}

function memberName(property: Node): string {
  if (property.type === "Identifier") return property.name;
  return property.type === "StringLiteral" ? property.value : "";
}

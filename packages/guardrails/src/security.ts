import type { Node } from "@babel/types";
import type { Finding } from "@cem/core";
import { locationOf, runtimeNodes } from "@cem/program";
import type { Program } from "@cem/program";

/** Members of the runtime that reach outside the sandbox. The sandbox refuses them; the finding reports it early. */
const RUNTIME_MEMBERS = new Map([
  ["Deno", new Set(["Command", "run", "dlopen", "kill"])],
  ["process", new Set(["binding", "dlopen", "kill"])],
]);

/** Code without these names, which an escape may hide, need not be searched. */
const SUSPICIOUS = /\b(?:eval|Function|Deno|process)\b|\\u/;

/** Warns about code that is made from text and about members of the runtime that start processes or load libraries. */
export function checkSecurity(program: Program): Finding[] {
  if (!SUSPICIOUS.test(program.code)) return [];
  return [...runtimeNodes(program.ast.program)].flatMap(({ node }): Finding[] => {
    const problem = problemOf(node);
    return problem === undefined ? [] : [{ severity: "warning", ...locationOf(node), ...problem }];
  });
}

function problemOf(node: Node): Pick<Finding, "rule" | "message"> | undefined {
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

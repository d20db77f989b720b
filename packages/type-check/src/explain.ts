import ts from "typescript";
import { explainCall } from "./explain-call.ts";
import { explainImport } from "./explain-import.ts";
import { explainMember } from "./explain-member.ts";
import { explainName } from "./explain-name.ts";
import { nodeAt } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";

type Explain = (node: ts.Node, checker: ts.TypeChecker, diagnostic: ts.Diagnostic) => Explanation | undefined;

/**
 * The diagnostics of TypeScript that mean that a run would fail. All others (missing types, unused names, possible null,
 * mismatches among the program's own types) do not stop code.
 */
const EXPLAINED: readonly (readonly [codes: readonly number[], explain: Explain])[] = [
  [[2305, 2459, 2460, 2614, 2724, 1192], explainImport],
  [[2304, 2552, 2580, 2582, 2583, 2584, 2662, 2663, 18004], explainName],
  [[2339, 2551, 2550, 2568, 2570], explainMember],
  [[2349, 2351, 2348, 6234], explainUncallable],
  [[2345, 2322, 2353, 2561, 2739, 2740, 2741, 2554, 2555, 2769, 2820, 2559, 2326, 2418], explainCall],
  [[2588], explainConstant],
];

const EXPLAIN_BY_CODE = new Map(
  EXPLAINED.flatMap(([codes, explain]) => codes.map((code) => [code, explain])),
);

/**
 * Explains what a diagnostic means for a run.
 *
 * @returns `undefined` when the diagnostic is no reason to stop the code.
 */
export function explain(
  diagnostic: ts.Diagnostic,
  source: ts.SourceFile,
  checker: ts.TypeChecker,
): Explanation | undefined {
  const explainOne = EXPLAIN_BY_CODE.get(diagnostic.code);
  if (explainOne === undefined || diagnostic.start === undefined) return undefined;
  return explainOne(nodeAt(source, diagnostic.start), checker, diagnostic);
}

function explainUncallable(node: ts.Node, checker: ts.TypeChecker): Explanation | undefined {
  let call: ts.Node = node;
  while (!ts.isCallExpression(call) && !ts.isNewExpression(call)) {
    if (ts.isStatement(call)) return undefined;
    call = call.parent;
  }
  const callee = call.expression;
  const type = checker.getTypeAtLocation(callee);
  const members = type.isUnion() ? type.types : [type];
  if (members.some((member) => canBeCalled(member))) return undefined;
  const text = callee.getText().slice(0, 80);
  const what = ts.isNewExpression(call) ? "a class" : "a function";
  return { rule: "not-callable", message: `${text} is not ${what}: it is ${typeText(type, checker)}.` };
}

function canBeCalled(type: ts.Type): boolean {
  if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never)) !== 0) return true;
  return type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0;
}

function typeText(type: ts.Type, checker: ts.TypeChecker): string {
  return checker.typeToString(checker.getBaseTypeOfLiteralType(type)).slice(0, 80);
}

function explainConstant(node: ts.Node): Explanation {
  return {
    rule: "constant-assigned",
    message: `${node.getText()} is a const and can't be given another value.`,
  };
}

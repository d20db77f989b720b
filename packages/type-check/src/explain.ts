import { explainCall } from "./explain-call.ts";
import { explainImport } from "./explain-import.ts";
import { explainIteration } from "./explain-iteration.ts";
import { explainMember } from "./explain-member.ts";
import { explainName } from "./explain-name.ts";
import { EXPLAINED_CODES } from "./explained-codes.ts";
import type { Diagnostic, ProgramView } from "./native-compiler.ts";
import { membersOf, nodeAt } from "./type-facts.ts";
import type { Explanation } from "./type-facts.ts";
import {
  type Checker,
  isCallExpression,
  isNewExpression,
  isSourceFile,
  isStatement,
  type Node,
  SignatureKind,
  type Type,
  TypeFlags,
} from "./typescript.ts";

type Explain = (node: Node, checker: Checker) => Promise<Explanation | undefined>;

const EXPLAIN: Record<keyof typeof EXPLAINED_CODES, Explain> = {
  import: explainImport,
  name: explainName,
  member: explainMember,
  uncallable: explainUncallable,
  call: explainCall,
  iteration: explainIteration,
  constant: explainConstant,
};

const EXPLAIN_BY_CODE = new Map<number, Explain>(
  Object.entries(EXPLAINED_CODES).flatMap(([about, codes]) =>
    codes.map((code) => [code, EXPLAIN[about as keyof typeof EXPLAINED_CODES]] as const),
  ),
);

/**
 * Explains what a diagnostic means for a run.
 *
 * @returns `undefined` when the diagnostic is no reason to stop the code.
 */
export async function explain(
  { code, pos }: Diagnostic,
  { source, checker }: ProgramView,
): Promise<Explanation | undefined> {
  return EXPLAIN_BY_CODE.get(code)?.(nodeAt(source, pos), checker);
}

async function explainUncallable(node: Node, checker: Checker): Promise<Explanation | undefined> {
  let call = node;
  while (!isCallExpression(call) && !isNewExpression(call)) {
    if (isStatement(call) || isSourceFile(call)) return undefined;
    call = call.parent;
  }
  const callee = call.expression;
  const type = await checker.getTypeAtLocation(callee);
  if (type === undefined) return undefined;
  const members = await membersOf(type);
  const callable = await Promise.all(members.map((member) => canBeCalled(member, checker)));
  if (callable.includes(true)) return undefined;
  const text = callee.getText().slice(0, 80);
  const what = isNewExpression(call) ? "a class" : "a function";
  return { rule: "not-callable", message: `${text} is not ${what}: it is ${await typeText(type, checker)}.` };
}

async function canBeCalled(type: Type, checker: Checker): Promise<boolean> {
  if ((type.flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Never)) !== 0) return true;
  const signatures = await Promise.all([
    checker.getSignaturesOfType(type, SignatureKind.Call),
    checker.getSignaturesOfType(type, SignatureKind.Construct),
  ]);
  return signatures.flat().length > 0;
}

async function typeText(type: Type, checker: Checker): Promise<string> {
  const base = (await checker.getBaseTypeOfLiteralType(type)) ?? type;
  return (await checker.typeToString(base)).slice(0, 80);
}

async function explainConstant(node: Node): Promise<Explanation> {
  return {
    rule: "constant-assigned",
    message: `${node.getText()} is a const and can't be given another value.`,
  };
}

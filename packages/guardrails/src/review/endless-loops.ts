import type { Node } from "@babel/types";
import { runtimeNodes } from "@cem/program";
import type { ProgramParts, Visit } from "./collect.ts";
import { findExits } from "./loop-exits.ts";
import type { LoopExits } from "./loop-exits.ts";
import type { Report } from "./report.ts";
import type { Values } from "./values.ts";

type Loop = Extract<Node, { type: "WhileStatement" | "DoWhileStatement" | "ForStatement" }>;

/** Reports loops that nothing in them can end. */
export function checkLoops({ loops }: ProgramParts, root: Node, values: Values, report: Report): void {
  if (loops.length === 0) return;
  const exits = findExits(root);
  for (const visit of loops) {
    const loop = visit.node as Loop;
    if (exits.left.has(loop) || !runsForever(loop, visit, exits, values)) continue;
    const message = "This loop never ends: its condition stays true, and nothing in it leaves it.";
    report.add(loop, {
      rule: "endless-loop",
      severity: "warning",
      message,
      hint: "Count the rounds, or `break` when done.",
    });
  }
}

function runsForever(loop: Loop, { scope }: Visit, exits: LoopExits, values: Values): boolean {
  const { test } = loop;
  if (test == null) return true;
  if (test.type === "ArrayExpression" || test.type === "ObjectExpression") return true;
  return isUnchanged(test, loop, exits) && isTrue(test, scope, values);
}

/** Whether it is made of literals, and of variables that nothing in the loop changes. */
function isUnchanged(test: Node, loop: Loop, { isChanged }: LoopExits): boolean {
  for (const { node } of runtimeNodes(test)) {
    if (node.type === "Identifier") {
      if (isChanged(node.name, loop)) return false;
    } else if (!/^(?:Binary|Unary)Expression$|Literal$|^TemplateElement$/.test(node.type)) return false;
  }
  return true;
}

function isTrue(test: Node, scope: Visit["scope"], { constants }: Values): boolean {
  if (test.type !== "BinaryExpression") {
    const values = constants.of(test, scope);
    return values.length === 1 && Boolean(values[0]);
  }
  const left = constants.of(test.left, scope);
  const right = constants.of(test.right, scope);
  if (left.length !== 1 || right.length !== 1) return false;
  const [one, other] = [left[0] as number, right[0] as number];
  switch (test.operator) {
    case "<":
      return one < other;
    case ">":
      return one > other;
    case "<=":
      return one <= other;
    case ">=":
      return one >= other;
    case "==":
    case "===":
      return one === other;
    case "!=":
    case "!==":
      return one !== other;
    default:
      return false;
  }
}

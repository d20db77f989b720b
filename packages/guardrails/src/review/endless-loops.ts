import type { Node } from "@babel/types";
import { runtimeNodes } from "@cem/program";
import type { ProgramParts, Visit } from "./collect.ts";
import { constantsOf } from "./constants.ts";
import type { Report } from "./report.ts";

type Loop = Extract<Node, { type: "WhileStatement" | "DoWhileStatement" | "ForStatement" }>;

const FUNCTION = /Function(?:Expression|Declaration)$|Method$/;
const LOOP = /^(?:For\w*|While|DoWhile)Statement$/;

/** Reports loops that nothing in them can end. */
export function checkLoops({ loops }: ProgramParts, report: Report): void {
  for (const visit of loops) {
    const loop = visit.node as Loop;
    if (!runsForever(loop, visit) || canLeave(loop, visit.parent)) continue;
    const message = "This loop never ends: its condition stays true, and nothing in it leaves it.";
    report.add(loop, {
      rule: "endless-loop",
      severity: "warning",
      message,
      hint: "Count the rounds, or `break` when done.",
    });
  }
}

function runsForever(loop: Loop, { scope }: Visit): boolean {
  const { test } = loop;
  if (test == null) return true;
  if (test.type === "ArrayExpression" || test.type === "ObjectExpression") return true;
  return isTrueAndUnchanged(test, loop, scope);
}

/** Literals, or variables that nothing in the loop changes. */
function isTrueAndUnchanged(test: Node, loop: Loop, scope: Visit["scope"]): boolean {
  const names = new Set<string>();
  for (const { node } of runtimeNodes(test)) {
    if (node.type === "Identifier") names.add(node.name);
    else if (!/^(?:Binary|Unary)Expression$|Literal$|^TemplateElement$/.test(node.type)) return false;
  }
  for (const { node } of runtimeNodes(loop)) {
    const target =
      node.type === "AssignmentExpression"
        ? node.left
        : node.type === "UpdateExpression"
          ? node.argument
          : undefined;
    if (target === undefined) continue;
    for (const part of runtimeNodes(target)) {
      if (part.node.type === "Identifier" && names.has(part.node.name)) return false;
    }
  }
  return isTrue(test, scope);
}

function isTrue(test: Node, scope: Visit["scope"]): boolean {
  if (test.type !== "BinaryExpression") {
    const values = constantsOf(test, scope);
    return values.length === 1 && Boolean(values[0]);
  }
  const left = constantsOf(test.left, scope);
  const right = constantsOf(test.right, scope);
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

/** Whether a statement leaves the loop. */
function canLeave(loop: Loop, parent: Node | undefined): boolean {
  const labels = parent?.type === "LabeledStatement" ? [parent.label.name] : [];
  const pending: { node: Node; inLoop: boolean; inSwitch: boolean; caught: boolean }[] = [
    { node: loop.body, inLoop: false, inSwitch: false, caught: false },
  ];
  if (loop.type === "ForStatement" && loop.update != null) {
    pending.push({ node: loop.update, inLoop: true, inSwitch: false, caught: false });
  }
  if (loop.test != null) pending.push({ node: loop.test, inLoop: true, inSwitch: false, caught: false });
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const { node } = at;
    if (FUNCTION.test(node.type)) continue;
    if (node.type === "ReturnStatement" || node.type === "YieldExpression") return true;
    if (node.type === "ThrowStatement" && !at.caught) return true;
    if (node.type === "BreakStatement") {
      if (
        node.label == null
          ? !at.inLoop && !at.inSwitch
          : !isInside(node.label.name, loop) || labels.includes(node.label.name)
      )
        return true;
    }
    if (
      node.type === "ContinueStatement" &&
      node.label != null &&
      !isInside(node.label.name, loop) &&
      !labels.includes(node.label.name)
    )
      return true;
    const inLoop = at.inLoop || LOOP.test(node.type);
    const inSwitch = at.inSwitch || node.type === "SwitchStatement";
    for (const [key, value] of Object.entries(node)) {
      if (key === "loc" || key === "extra") continue;
      const caught = at.caught || (node.type === "TryStatement" && key === "block" && node.handler != null);
      for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (typeof (child as { type?: unknown } | null)?.type === "string") {
          pending.push({ node: child as Node, inLoop, inSwitch, caught });
        }
      }
    }
  }
  return false;
}

/** Whether a label is set within the loop, so that leaving it stays in the loop. */
function isInside(label: string, loop: Loop): boolean {
  for (const { node } of runtimeNodes(loop.body)) {
    if (node.type === "LabeledStatement" && node.label.name === label) return true;
  }
  return false;
}

import type { Node } from "@babel/types";
import { runtimeNodes } from "@cem/program";
import type { ProgramParts, Report, Visit } from "./collect.ts";
import type { Values } from "./origins.ts";
import { forEachChild } from "./scopes.ts";

/** How the loops of a program can end. */
interface LoopExits {
  /** The loops that some statement in them leaves. */
  left: ReadonlySet<Node>;
  /** Whether something within a node assigns a variable of this name. */
  isChanged: (name: string, within: Node) => boolean;
}

/** Enclosing statements that a jump at the visited place can leave, or an error be caught by. */
interface Frame {
  kind: "function" | "label" | "loop" | "switch" | "try";
  node: Node;
  /** The outermost frame that a statement in this one leaves, by its index. */
  leaves: number;
  /** Of a label: the index of its loop. */
  loop: number;
}

interface Step {
  node: Node;
  /** Whether the node is part of what an assignment changes. */
  isTarget: boolean;
  /** Whether errors in it are caught. */
  isTried: boolean;
  /** Whether it was visited, and is left now. */
  isDone: boolean;
}

const FUNCTION = /Function(?:Expression|Declaration)$|Method$/;
const LOOP = /^(?:For\w*|While|DoWhile)Statement$/;

/** Finds out which loops are left, in one walk over the program. */
function findExits(root: Node): LoopExits {
  const frames = new Frames();
  const changes = new Map<string, number[]>();
  const pending: Step[] = [{ node: root, isTarget: false, isTried: false, isDone: false }];
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    const { node, isTarget, isTried, isDone } = step;
    if (isDone) {
      frames.close();
      continue;
    }
    const kind = isTried ? "try" : kindOf(node);
    if (kind !== undefined) {
      frames.open(kind, node);
      pending.push({ ...step, isDone: true });
    }
    if (isTarget && node.type === "Identifier") {
      const places = changes.get(node.name);
      if (places === undefined) changes.set(node.name, [node.start ?? 0]);
      else places.push(node.start ?? 0);
    }
    frames.leaveBy(node);
    forEachChild(node, (child, key) => {
      pending.push({
        node: child,
        isTarget: isTarget || isTargetOf(node, key),
        isTried: node.type === "TryStatement" && key === "block" && node.handler != null,
        isDone: false,
      });
    });
  }
  for (const places of changes.values()) places.sort((one, other) => one - other);
  return {
    left: frames.left,
    isChanged: (name, { start, end }) => firstFrom(changes.get(name) ?? [], start ?? 0) < (end ?? 0),
  };
}

function isTargetOf({ type }: Node, key: string): boolean {
  return (
    (type === "AssignmentExpression" && key === "left") || (type === "UpdateExpression" && key === "argument")
  );
}

function kindOf({ type }: Node): Frame["kind"] | undefined {
  if (FUNCTION.test(type)) return "function";
  if (LOOP.test(type)) return "loop";
  if (type === "SwitchStatement") return "switch";
  return type === "LabeledStatement" ? "label" : undefined;
}

/** The first of the sorted numbers that is not less than the given one. */
function firstFrom(sorted: readonly number[], least: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? Infinity) < least) low = middle + 1;
    else high = middle;
  }
  return sorted[low] ?? Infinity;
}

/** The frames around the visited place, from the outside in. */
class Frames {
  readonly left = new Set<Node>();
  readonly #frames: Frame[] = [];
  /** The indexes of the frames of a kind, innermost last. */
  readonly #functions: number[] = [];
  readonly #tries: number[] = [];
  readonly #breakable: number[] = [];
  readonly #labels = new Map<string, number[]>();

  open(kind: Frame["kind"], node: Node): void {
    const index = this.#frames.length;
    this.#indexesOf(kind, node)?.push(index);
    this.#frames.push({ kind, node, leaves: Infinity, loop: Infinity });
    if (kind !== "loop") return;
    for (let at = index - 1; this.#frames[at]?.kind === "label"; at -= 1) {
      (this.#frames[at] as Frame).loop = index;
    }
  }

  close(): void {
    const frame = this.#frames.pop() as Frame;
    this.#indexesOf(frame.kind, frame.node)?.pop();
    if (frame.kind === "loop" && frame.leaves <= this.#frames.length) this.left.add(frame.node);
    if (frame.kind !== "function") this.#leave(frame.leaves);
  }

  /** Notes which frames a statement leaves. */
  leaveBy(node: Node): void {
    const outermost = (this.#functions.at(-1) ?? -1) + 1;
    switch (node.type) {
      case "ReturnStatement":
      case "YieldExpression":
        return this.#leave(outermost);
      case "ThrowStatement":
        return this.#leave(Math.max(outermost, (this.#tries.at(-1) ?? -1) + 1));
      case "BreakStatement": {
        const label = node.label == null ? this.#breakable : this.#labels.get(node.label.name);
        return this.#leave(label?.at(-1) ?? Infinity);
      }
      case "ContinueStatement": {
        if (node.label == null) return;
        const label = this.#frames[this.#labels.get(node.label.name)?.at(-1) ?? -1];
        return this.#leave((label?.loop ?? Infinity) + 1);
      }
      default:
    }
  }

  #leave(index: number): void {
    const innermost = this.#frames.at(-1);
    if (innermost !== undefined) innermost.leaves = Math.min(innermost.leaves, index);
  }

  #indexesOf(kind: Frame["kind"], node: Node): number[] | undefined {
    if (kind === "function") return this.#functions;
    if (kind === "try") return this.#tries;
    if (kind !== "label") return this.#breakable;
    if (node.type !== "LabeledStatement") return undefined;
    const { name } = node.label;
    const indexes = this.#labels.get(name) ?? [];
    this.#labels.set(name, indexes);
    return indexes;
  }
}

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

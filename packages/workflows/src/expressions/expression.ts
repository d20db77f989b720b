import { CemError, type JsonObject } from "@cem/core";
import { runWithTimeout, SyncTimeoutError } from "@cem/program/run-with-timeout";
import { Environment, type ASTNode } from "@marcbachmann/cel-js";

/** Timeout of the expressions of one step. Longer ones would block everything else on the host. */
const EXPRESSION_TIMEOUT_MS = 250;

/** Ends work without side effects at a timeout: expressions can't loop, but nested macros and regular expressions can take long. */
export function bounded<Result>(work: () => Result, timeoutMs: number = EXPRESSION_TIMEOUT_MS): Result {
  try {
    return runWithTimeout(work, timeoutMs);
  } catch (error) {
    if (!(error instanceof SyncTimeoutError)) throw error;
    const message = `Expressions took longer than ${timeoutMs} ms. Do this work in a code_execution step.`;
    throw new CemError("EXPRESSION_FAILED", message, { details: { timeoutMs } });
  }
}

/** The path of a value in a workflow's file: `["steps", 2, "config"]`. */
export type DocumentPath = readonly (string | number)[];

const MAX_CHARACTERS = 10_000;
const LIMITS = { maxAstNodes: 2_000, maxDepth: 100 };
const MAX_SHOWN_CHARACTERS = 80;
const MAX_CACHED = 5_000;

/** The names that expressions can refer to. Which of them exist depends on the place. */
export type Scope = JsonObject;
/** A scope whose objects may be maps. */
export type Readable = Readonly<Record<string, unknown>>;

/** A compiled expression of CEL (Common Expression Language). */
export interface Expression {
  text: string;
  /** The names it reads from its scope, without those bound by its own macros. */
  names: ReadonlySet<string>;
  steps: ReadonlySet<string>;
  errors: ReadonlySet<string>;
  /** The keys that it reads from `variables`, without optional ones (`variables.?x`). */
  variables: ReadonlySet<string>;
  /** Whether it uses `steps` or `errors` as a whole, so that it depends on all steps. */
  usesAllSteps: boolean;
  /** @throws CemError `EXPRESSION_FAILED` */
  evaluate(scope: Readable): unknown;
}

const OPERATIONS: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
};

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: LIMITS,
});
// JSON has one number type; CEL has two that don't mix.
for (const [operator, operate] of Object.entries(OPERATIONS)) {
  const mixed = [`int ${operator} double`, `double ${operator} int`];
  for (const signature of operator === "%" ? [...mixed, "double % double"] : mixed)
    environment.registerOperator(signature, (one: number | bigint, other: number | bigint) =>
      operate(Number(one), Number(other)),
    );
}

const compiled = new Map<string, Expression>();

/** Compiles an expression. @throws CemError `EXPRESSION_INVALID` */
export function compileExpression(text: string): Expression {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  if (text.length > MAX_CHARACTERS)
    throw invalid(text, `it has ${text.length} characters, and ${MAX_CHARACTERS} are the most`);
  let run: ReturnType<Environment["parse"]>;
  try {
    run = environment.parse(text);
  } catch (error) {
    throw invalid(text, firstLine(error), error);
  }
  const expression: Expression = {
    text,
    ...referencesIn(run.ast),
    evaluate(scope) {
      try {
        return run(scope);
      } catch (error) {
        const message = `${shown(text)} failed: ${firstLine(error)}.`;
        const details = { expression: shown(text) };
        throw new CemError("EXPRESSION_FAILED", message, { details, cause: error });
      }
    },
  };
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(text, expression);
  return expression;
}

const BINDING_MACROS = new Set(["all", "exists", "exists_one", "map", "filter"]);

/** The values that an expression reads from its scope. */
function referencesIn(ast: ASTNode): Omit<Expression, "text" | "evaluate"> {
  const names = new Set<string>();
  const keys = { steps: new Set<string>(), errors: new Set<string>(), variables: new Set<string>() };
  let usesAllSteps = false;
  const visit = (node: unknown, bound: ReadonlySet<string>): void => {
    if (Array.isArray(node)) {
      for (const part of node) visit(part, bound);
      return;
    }
    if (!isNode(node)) return;
    const { op, args } = node;
    if (op === "value") return;
    if (op === "id") {
      if (bound.has(args)) return;
      names.add(args);
      usesAllSteps ||= args === "steps" || args === "errors";
      return;
    }
    const key = scopeKey(node);
    if (key !== undefined && !bound.has(key.of)) {
      names.add(key.of);
      if (key.of !== "variables" || !key.isOptional) keys[key.of].add(key.name);
      return;
    }
    if (op === "rcall" && BINDING_MACROS.has(args[0]) && args[2].length > 1) {
      const [, receiver, given] = args;
      visit(receiver, bound);
      const [binding, ...rest] = given;
      const name = binding?.op === "id" ? [binding.args] : [];
      visit(rest, new Set([...bound, ...name]));
      return;
    }
    visit(args, bound);
  };
  visit(ast, new Set());
  return { names, ...keys, usesAllSteps };
}

const KEYED = ["steps", "errors", "variables"] as const;

/** The key that `steps.x`, `steps["x"]` and the like refer to. */
function scopeKey({ op, args }: ASTNode) {
  if (op !== "." && op !== ".?" && op !== "[]" && op !== "[?]") return undefined;
  const [target, key] = args;
  const of = target.op === "id" ? KEYED.find((name) => name === target.args) : undefined;
  if (of === undefined) return undefined;
  const name = typeof key === "string" ? key : key.op === "value" ? key.args : undefined;
  return typeof name === "string" ? { of, name, isOptional: op === ".?" || op === "[?]" } : undefined;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value;
}

function invalid(text: string, reason: string, cause?: unknown): CemError {
  return new CemError("EXPRESSION_INVALID", `${shown(text)} is not an expression: ${reason}.`, {
    details: { expression: shown(text) },
    cause,
  });
}

function shown(text: string): string {
  const line = text.trim().replaceAll(/\s+/gu, " ");
  return line.length > MAX_SHOWN_CHARACTERS ? `${line.slice(0, MAX_SHOWN_CHARACTERS)}…` : line;
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split("\n")[0] ?? "").replace(/\.$/u, "");
}

import { awaits, type Expression, literal, namesIn, object } from "../program/expression.ts";
import type { Program, Statement } from "../program/statement.ts";
import { helperCode } from "../program/helpers.ts";
import { writeJsonFile } from "./documents.ts";
import type { Plan } from "./plan.ts";
import type { Value } from "./value.ts";

/** Turns what was planned into a program: files written once, nothing unused, one value at the end. */
export function finishProgram(plan: Plan): Program {
  const placed = placeSaves(plan, plan.block);
  const value = chooseValue(plan);
  const used = namesIn(value);
  const statements = drop(placed, used);
  for (const document of plan.documents)
    if (document.added.size > 0 && !document.isLoaded) loosen(statements, document.value);
  return { imports: plan.imports, helpers: helperCode(used), statements, value };
}

/** A file is written where it changed last before it is needed, not after every change. */
function placeSaves(plan: Plan, statements: readonly Statement[]): Statement[] {
  const placed: Statement[] = [];
  for (const [at, statement] of statements.entries()) {
    if (statement.kind === "saved-by-here") continue;
    if (statement.kind === "if") {
      placed.push({
        ...statement,
        body: placeSaves(plan, statement.body),
        otherwise: placeSaves(plan, statement.otherwise),
      });
    } else if (statement.kind !== "save") {
      placed.push(statement);
    } else {
      const next = statements
        .slice(at + 1)
        .find(
          (one) =>
            (one.kind === "save" || one.kind === "saved-by-here") && one.document === statement.document,
        );
      if (next?.kind !== "save")
        placed.push({
          kind: "do",
          value: writeJsonFile(plan, statement.document.path, statement.document.value.expression),
        });
    }
  }
  return placed;
}

/** The results that fed no other result; one stands alone, several get their names. */
function chooseValue(plan: Plan): Expression {
  const open = plan.values.filter((value) => !value.consumed);
  const results = open.filter((value) => !value.isEffect);
  const unique = [...new Map(results.map((value) => [value.name, value])).values()];
  const shown = unique.length > 0 ? unique : open.slice(-1);
  const [only] = shown;
  if (only === undefined) return plan.values.at(-1)?.expression ?? fallbackValue(plan);
  if (shown.length === 1) return only.expression;
  return object(Object.fromEntries(shown.map((value) => [value.name, value.expression])));
}

/** A task that only did things says what it did them to. */
function fallbackValue(plan: Plan): Expression {
  if (plan.printed !== undefined) return plan.printed;
  return plan.lastPath === undefined ? literal(true) : object({ path: literal(plan.lastPath) });
}

/** A result that nobody reads is not kept in a variable; what it did is still done. */
function drop(statements: readonly Statement[], used: Set<string>): Statement[] {
  const kept: Statement[] = [];
  for (const statement of statements.toReversed()) {
    if (statement.kind === "const" && !used.has(statement.name)) {
      if (statement.value.kind === "conditional" && awaits(statement.value))
        kept.push(toBranch(statement.value));
      else if (awaits(statement.value)) kept.push({ kind: "do", value: statement.value });
      else continue;
      addNames(used, statement.value);
      continue;
    }
    if (statement.kind === "if") {
      const body = drop(statement.body, used);
      const otherwise = drop(statement.otherwise, used);
      addNames(used, statement.test);
      kept.push({ ...statement, body, otherwise });
      continue;
    }
    for (const expression of expressionsIn(statement)) addNames(used, expression);
    kept.push(statement);
  }
  return kept.toReversed();
}

function toBranch(value: Expression & { kind: "conditional" }): Statement {
  const otherwise: Statement[] = awaits(value.no) ? [{ kind: "do", value: value.no }] : [];
  return { kind: "if", test: value.test, body: [{ kind: "do", value: value.yes }], otherwise };
}

function expressionsIn(statement: Statement): Expression[] {
  if (statement.kind === "assign") return [statement.target, statement.value];
  if (statement.kind === "const" || statement.kind === "let" || statement.kind === "do")
    return [statement.value];
  return statement.kind === "throw" ? [statement.message] : [];
}

function addNames(used: Set<string>, expression: Expression): void {
  for (const one of namesIn(expression)) used.add(one);
}

/** Fields that come later have no place in the type that TypeScript reads from the first value. */
function loosen(statements: readonly Statement[], value: Value): void {
  const declared = statements.find(
    (statement) => statement.kind === "const" && statement.name === value.name,
  );
  if (declared?.kind === "const") declared.type = "Record<string, any>";
}

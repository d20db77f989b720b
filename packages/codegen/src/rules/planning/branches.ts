import type { StepCondition } from "@cem/text";
import { conditional, type Expression, literal, name, not } from "../program/expression.ts";
import type { Statement } from "../program/statement.ts";
import { readTokens } from "../language/lexer.ts";
import { changes } from "../grammar/calls/verbs.ts";
import { readTest } from "../grammar/conditions/conditions.ts";
import { onlyReadsFiles } from "./file-system.ts";
import { type Plan, Unfilled } from "./plan.ts";
import type { Meaning } from "./reading.ts";
import { typeText, type Value } from "./value.ts";

/** The steps of one condition, while they are being planned. */
export class Branch {
  readonly number: number;
  readonly #plan: Plan;
  readonly #outer: Statement[];
  readonly #test: Expression;
  /** Whether the condition holds, where that is known before the program runs. */
  readonly #known: boolean | undefined;
  readonly #then: Statement[] = [];
  readonly #otherwise: Statement[] = [];
  readonly #firstValue: number;

  constructor(plan: Plan, condition: StepCondition) {
    this.number = condition.branch;
    this.#plan = plan;
    this.#outer = plan.block;
    const test = readCondition(condition.text, plan);
    this.#known = typeof test.constant === "boolean" ? test.constant : undefined;
    this.#test = test.lower();
    this.#firstValue = plan.values.length;
  }

  /** Sends what is planned next into one side of the branch. */
  enter(holds: boolean): void {
    this.#plan.block = holds ? this.#then : this.#otherwise;
  }

  /**
   * Whether a step of one side that can't be planned needs to be refused only where that side is taken: it is known not to
   * be, or nothing has been changed by then.
   */
  mayWait(holds: boolean): boolean {
    return this.#known === undefined ? changesNothing(this.#plan) : this.#known !== holds;
  }

  /** Puts the branch into the program: `const x = test ? … : null` where that says it all. */
  close(): void {
    const plan = this.#plan;
    plan.block = this.#outer;
    const made = plan.values.slice(this.#firstValue);
    const then = this.#then;
    const otherwise = this.#otherwise;
    const [only] = then;
    const [other] = otherwise;
    if (then.length === 1 && only?.kind === "const" && otherwise.length === 0) {
      plan.add({ kind: "const", name: only.name, value: conditional(this.#test, only.value, literal(null)) });
      nullable(made);
    } else if (
      then.length === 1 &&
      otherwise.length === 1 &&
      only?.kind === "const" &&
      other?.kind === "const"
    ) {
      const variable = plan.names.take("result", "result");
      plan.add({ kind: "const", name: variable, value: conditional(this.#test, only.value, other.value) });
      for (const value of made) value.consumed = true;
      plan.track(name(variable), variable, { words: "result", schema: made[0]?.schema ?? {} });
    } else if (then.length === 0) {
      this.#hoist(made);
      plan.add({ kind: "if", test: not(this.#test), body: otherwise, otherwise: [] });
    } else {
      this.#hoist(made);
      plan.add({ kind: "if", test: this.#test, body: then, otherwise });
    }
  }

  /** Results that leave the branch are declared before it and null until it sets them. */
  #hoist(made: readonly Value[]): void {
    const names = new Map(
      made.filter((value) => !value.consumed && !value.isEffect).map((value) => [value.name, value]),
    );
    for (const block of [this.#then, this.#otherwise]) {
      for (const [at, statement] of block.entries()) {
        const value = statement.kind === "const" ? names.get(statement.name) : undefined;
        if (statement.kind !== "const" || value === undefined) continue;
        this.#plan.add({
          kind: "let",
          name: statement.name,
          type: `${typeText(value.schema)} | null`.replace("unknown | null", "unknown"),
          value: literal(null),
        });
        block[at] = { kind: "assign", target: name(statement.name), value: statement.value };
      }
    }
    nullable(made);
  }
}

function changesNothing(plan: Plan): boolean {
  const { uses, documents } = plan;
  return onlyReadsFiles(plan) && ![...uses].some(changes) && !documents.some(({ isDirty }) => isDirty);
}

function nullable(values: readonly Value[]): void {
  for (const value of values) value.words = value.words.trim();
}

function readCondition(text: string, plan: Plan): Meaning {
  const test = readTest(readTokens(text), plan);
  if (test !== undefined) return test;
  throw new Unfilled({
    step: `if ${text}`,
    reason: "missing-argument",
    argument: "condition",
    hint: `"${text.slice(0, 80)}" compares nothing that an earlier step gives. Name a result or one of its properties, and what to compare it with.`,
  });
}

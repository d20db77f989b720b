import type { StepCondition } from "@cem/core/text";
import { readComparison, type Comparison } from "../arithmetic/compare.ts";
import { Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { cite } from "../planning/unfilled.ts";
import { conditional, literal, name, not, type Statement } from "../program/expression.ts";

/** The steps of one condition, while they are being planned. */
export class Branch {
  readonly number: number;
  readonly #plan: Plan;
  readonly #outer: Statement[];
  readonly #test: Comparison;
  readonly #then: Statement[] = [];
  readonly #otherwise: Statement[] = [];
  readonly #firstValue: number;
  readonly #firstDocument: number;

  constructor(plan: Plan, condition: StepCondition) {
    const test = readComparison(Phrase.read(condition.text), plan);
    if (test === undefined)
      throw plan.unread(
        "condition",
        `${cite(`if ${condition.text}`)} compares nothing that an earlier step gives. Name a result or one of its properties, and a number.`,
      );
    plan.flush();
    this.number = condition.branch;
    this.#plan = plan;
    this.#outer = plan.block;
    this.#test = test;
    this.#firstValue = plan.values.length;
    this.#firstDocument = plan.documents.length;
  }

  /** Sends what is planned next into one side of the branch. */
  enter(holds: boolean): void {
    this.#plan.flush();
    this.#plan.block = holds ? this.#then : this.#otherwise;
  }

  /** Whether a step that can't be planned needs to be refused only where its side is taken: nothing was changed by then. */
  mayWait(holds: boolean): boolean {
    const { known } = this.#test;
    return known === undefined ? !this.#plan.hasChanged : known !== holds;
  }

  /** Puts the branch into the program: `const x = test ? … : null` where that says it all. */
  close(): void {
    const plan = this.#plan;
    plan.flush();
    plan.block = this.#outer;
    // A file that only one side read is not there after it.
    plan.documents.splice(this.#firstDocument);
    const made = plan.values.slice(this.#firstValue);
    const { expression: test } = this.#test;
    const [only, other] = [onlyConst(this.#then), onlyConst(this.#otherwise)];
    if (only !== undefined && this.#otherwise.length === 0) {
      plan.add({ kind: "const", name: only.name, value: conditional(test, only.value, literal(null)) });
    } else if (only !== undefined && other !== undefined) {
      const variable = plan.names.take("result", "result");
      plan.add({ kind: "const", name: variable, value: conditional(test, only.value, other.value) });
      for (const value of made) value.consumed = true;
      plan.track(name(variable), variable, { words: "result", schema: made[0]?.schema });
    } else {
      // What several steps of one side made is not there after it.
      plan.values.splice(this.#firstValue);
      const isElse = this.#then.length === 0;
      const [body, otherwise] = isElse ? [this.#otherwise, []] : [this.#then, this.#otherwise];
      plan.add({ kind: "if", test: isElse ? not(test) : test, body, otherwise });
    }
  }
}

function onlyConst(block: readonly Statement[]): (Statement & { kind: "const" }) | undefined {
  const [only] = block;
  return block.length === 1 && only?.kind === "const" ? only : undefined;
}

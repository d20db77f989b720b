import type { Node } from "@babel/types";
import type { Binding, Scope } from "./scopes.ts";

/** The deepest that an expression is followed into its parts at once. */
const MAX_DEPTH = 64;
/** The most passes over the variables. Each finds more about those that are assigned from one another. */
const MAX_PASSES = 8;

/**
 * Finds out what the expressions of one program can be, as far as it shows. Every expression is read once, and variables
 * in a fixed number of passes, so that the work is in proportion to the program's size. Nothing is known of what is
 * nested too deeply.
 */
export abstract class Evaluation<T> {
  readonly #known = new Map<Node, readonly T[]>();
  readonly #variables = new Map<Binding, readonly T[]>();
  #depth = 0;
  /** Whether the depth kept something from being read. */
  #isCut = false;
  #steps = 0;

  /** How many expressions were read so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Everything that an expression can be. Empty where nothing is known. */
  of(node: Node, scope: Scope): readonly T[] {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    if (this.#depth === MAX_DEPTH) {
      this.#isCut = true;
      return [];
    }
    // An expression that depends on itself adds nothing.
    this.#known.set(node, []);
    const wasCut = this.#isCut;
    this.#isCut = false;
    this.#depth += 1;
    this.#steps += 1;
    const found = this.read(node, scope);
    this.#depth -= 1;
    // Where the depth kept something back, a later question may reach further.
    if (this.#isCut) this.#known.delete(node);
    else this.#known.set(node, found);
    this.#isCut ||= wasCut;
    return found;
  }

  /** Reads one expression, and its parts by {@link of}. */
  protected abstract read(node: Node, scope: Scope): readonly T[];

  /** Adds what was found to what is known of a variable; gives back `known` itself where nothing is new. */
  protected abstract join(known: readonly T[], found: readonly T[]): readonly T[];

  /** Everything that a variable can be. */
  protected valuesOf(binding: Binding): readonly T[] {
    return this.#variables.get(binding) ?? [];
  }

  /** Finds out what the variables can be. What is found of expressions meanwhile may lack something. */
  protected settle(bindings: readonly Binding[]): void {
    const given = bindings.filter(({ values }) => values.length > 0);
    let isNew = true;
    for (let pass = 0; pass < MAX_PASSES && isNew; pass += 1) {
      this.forget();
      isNew = false;
      // Functions may use what is declared below them.
      for (const binding of pass % 2 === 0 ? given : given.toReversed()) {
        if (this.#update(binding)) isNew = true;
      }
    }
    this.forget();
  }

  /** Forgets what was found of expressions, since more is known of variables now. */
  protected forget(): void {
    this.#known.clear();
  }

  #update(binding: Binding): boolean {
    let isNew = false;
    for (const { node, scope } of binding.values) {
      const known = this.valuesOf(binding);
      const joined = this.join(known, this.of(node, scope));
      if (joined === known) continue;
      this.#variables.set(binding, joined);
      isNew = true;
    }
    return isNew;
  }
}

import type { JsonValue, ToolDefinition } from "@cem/core";
import { DEMANDING_WORDS } from "../../vocabulary.ts";
import type { Phrase } from "../language/phrase.ts";
import { isSmall, textOf, type Token } from "../language/lexer.ts";
import type { Plan } from "../planning/plan.ts";
import { hasType, type Value } from "../planning/value.ts";
import { type Expression, literal } from "../program/expression.ts";
import { type Parameter, readParameters } from "./parameters.ts";

export interface Name {
  from: number;
  to: number;
  text: string;
}

/** A tool call whose arguments are being filled from the tokens of a step. */
export class Filling {
  readonly tool: ToolDefinition;
  readonly plan: Plan;
  readonly phrase: Phrase;
  readonly tokens: readonly Token[];
  readonly args = new Map<string, Expression>();
  /** The tool is called once for each of these. */
  each: { parameter: Parameter; values: readonly JsonValue[] } | undefined;
  /** Earlier results that are used. */
  readonly consumed: Value[] = [];
  readonly #taken: boolean[];

  constructor(tool: ToolDefinition, phrase: Phrase, plan: Plan) {
    this.tool = tool;
    this.plan = plan;
    this.phrase = phrase;
    this.tokens = phrase.tokens;
    this.#taken = this.tokens.map(() => false);
  }

  /** The parameters without a value, required ones first. */
  get open(): readonly Parameter[] {
    const open = readParameters(this.tool).filter(({ name }) => !this.args.has(name));
    return [...open.filter(({ isRequired }) => isRequired), ...open.filter(({ isRequired }) => !isRequired)];
  }

  get missing(): readonly Parameter[] {
    return this.open.filter(({ isRequired }) => isRequired);
  }

  set(parameter: Parameter, value: JsonValue): void {
    this.args.set(parameter.name, literal(value));
  }

  /** Sets several values: a list if the parameter accepts one, otherwise one call for each. */
  setAll(parameter: Parameter, values: readonly JsonValue[]): boolean {
    const [only] = values;
    if (only === undefined || (values.length > 1 && this.each !== undefined)) return false;
    if (hasType(parameter.schema, "array") && typeof only !== "object") this.set(parameter, [...values]);
    else if (values.length === 1) this.set(parameter, only);
    else {
      this.each = { parameter, values };
      this.args.set(parameter.name, literal(null));
    }
    return true;
  }

  /** Sets a parameter to the texts of tokens, and claims these. */
  setTexts(parameter: Parameter, places: readonly number[]): boolean {
    const texts = places.map((at) => this.text(at));
    if (!this.setAll(parameter, texts)) return false;
    for (const at of places) this.take(at);
    return true;
  }

  /** Whether a token is not claimed by an argument yet. */
  isFree(at: number): boolean {
    return at >= 0 && at < this.tokens.length && this.#taken[at] === false;
  }

  take(from: number, to = from + 1): void {
    this.#taken.fill(true, Math.max(from, 0), to);
  }

  /** The indices of matching free tokens. */
  places(fits: (token: Token, at: number) => boolean): number[] {
    return [...this.tokens.keys()].filter((at) => this.isFree(at) && fits(this.tokens[at] as Token, at));
  }

  lower(at: number): string {
    return this.tokens[at]?.lower ?? "";
  }

  text(at: number): string {
    const token = this.tokens[at];
    return token === undefined ? "" : textOf(token);
  }

  /** The nearest word before an index, ignoring small words. */
  before(place: number): string {
    let at = place - 1;
    while (isSmall(this.tokens[at])) at -= 1;
    return this.lower(at);
  }

  /** Finds consecutive words among the free tokens. */
  findWords(words: readonly string[]): { from: number; to: number } | undefined {
    const [from] = this.places((_, at) =>
      words.every(
        (word, offset) =>
          this.isFree(at + offset) &&
          this.tokens[at + offset]?.kind === "word" &&
          this.lower(at + offset) === word,
      ),
    );
    return from === undefined || words.length === 0 ? undefined : { from, to: from + words.length };
  }

  names(): Name[] {
    const found: Name[] = [];
    for (let at = 0; at < this.tokens.length; at += 1) {
      let to = at;
      while (this.#isName(to)) to += 1;
      const [first, last] = [this.tokens[at], this.tokens[to - 1]];
      if (to === at || first === undefined || last === undefined) continue;
      found.push({ from: at, to, text: this.phrase.source.slice(first.start, last.end) });
      at = to;
    }
    return found;
  }

  /** Whether a token is a name. The first word of a step is capitalized without being one. */
  #isName(at: number): boolean {
    const token = this.tokens[at];
    return (
      at > 0 &&
      token?.kind === "word" &&
      this.isFree(at) &&
      /^\p{Lu}(?!'|$)/u.test(token.text) &&
      !DEMANDING_WORDS.has(token.lower)
    );
  }
}

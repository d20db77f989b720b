import type { JsonValue, ToolDefinition } from "@cem/core";
import { DEMANDING_WORDS } from "../phrases.ts";
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
export type Filling = ReturnType<typeof createFilling>;

export function createFilling(tool: ToolDefinition, phrase: Phrase, plan: Plan) {
  const { tokens } = phrase;
  const taken = tokens.map(() => false);

  /** Whether a token is a name. The first word of a step is capitalized without being one. */
  function isName(at: number): boolean {
    const token = tokens[at];
    return (
      at > 0 &&
      token?.kind === "word" &&
      filling.isFree(at) &&
      /^\p{Lu}(?!'|$)/u.test(token.text) &&
      !DEMANDING_WORDS.has(token.lower)
    );
  }

  const filling = {
    tool,
    plan,
    phrase,
    tokens,
    args: new Map<string, Expression>(),
    /** The tool is called once for each of these. */
    each: undefined as { parameter: Parameter; values: readonly JsonValue[] } | undefined,
    consumed: [] as Value[],
    get open(): readonly Parameter[] {
      return readParameters(tool)
        .filter(({ name }) => !filling.args.has(name))
        .toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired));
    },
    get missing(): readonly Parameter[] {
      return filling.open.filter(({ isRequired }) => isRequired);
    },
    set(parameter: Parameter, value: JsonValue): void {
      filling.args.set(parameter.name, literal(value));
    },
    /** Sets several values: a list if the parameter accepts one, otherwise one call for each. */
    setAll(parameter: Parameter, values: readonly JsonValue[]): boolean {
      const [only] = values;
      if (only === undefined || (values.length > 1 && filling.each !== undefined)) return false;
      if (hasType(parameter.schema, "array") && typeof only !== "object") filling.set(parameter, [...values]);
      else if (values.length === 1) filling.set(parameter, only);
      else {
        filling.each = { parameter, values };
        filling.args.set(parameter.name, literal(null));
      }
      return true;
    },
    setTexts(parameter: Parameter, places: readonly number[]): boolean {
      const texts = places.map((at) => filling.text(at));
      if (!filling.setAll(parameter, texts)) return false;
      for (const at of places) filling.take(at);
      return true;
    },
    isFree(at: number): boolean {
      return at >= 0 && at < tokens.length && taken[at] === false;
    },
    take(from: number, to = from + 1): void {
      taken.fill(true, Math.max(from, 0), to);
    },
    places(fits: (token: Token, at: number) => boolean): number[] {
      return [...tokens.keys()].filter((at) => filling.isFree(at) && fits(tokens[at] as Token, at));
    },
    lower(at: number): string {
      return tokens[at]?.lower ?? "";
    },
    text(at: number): string {
      const token = tokens[at];
      return token === undefined ? "" : textOf(token);
    },
    /** The nearest word before an index, ignoring small words. */
    before(place: number): string {
      let at = place - 1;
      while (isSmall(tokens[at])) at -= 1;
      return filling.lower(at);
    },
    findWords(words: readonly string[]): { from: number; to: number } | undefined {
      const [from] = filling.places((_, at) =>
        words.every(
          (word, offset) =>
            filling.isFree(at + offset) &&
            tokens[at + offset]?.kind === "word" &&
            filling.lower(at + offset) === word,
        ),
      );
      return from === undefined || words.length === 0 ? undefined : { from, to: from + words.length };
    },
    names(): Name[] {
      const found: Name[] = [];
      for (let at = 0; at < tokens.length; at += 1) {
        let to = at;
        while (isName(to)) to += 1;
        const [first, last] = [tokens[at], tokens[to - 1]];
        if (to === at || first === undefined || last === undefined) continue;
        found.push({ from: at, to, text: phrase.source.slice(first.start, last.end) });
        at = to;
      }
      return found;
    },
  };
  return filling;
}

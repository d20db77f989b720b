import { ROW_VERBS } from "@cem/text";
import type { Phrases } from "../../language/pattern.ts";
import { isSmall, type Span, type Token } from "../../language/token.ts";

/** Verbs of work on rows; the others ask. */
export const WORK = /^(?:keep|drop|sort|group|limit)$/u;

/** What the verb that a step begins with means, and the words that are asked for after it. */
export function readVerb(span: Span): { verb: string; rest: Span } {
  const cursor = new Cursor(span);
  const verb = cursor.phrase(ROW_VERBS) ?? "";
  return { verb, rest: WORK.test(verb) ? span : span.slice(cursor.at - span.from) };
}

/** Reads the words of a step from left to right, and knows how far any attempt got. */
export class Cursor {
  readonly span: Span;
  at: number;
  /** The place that no attempt got past. */
  furthest: number;

  constructor(span: Span) {
    this.span = span;
    this.at = span.from;
    this.furthest = span.from;
  }

  get isDone(): boolean {
    const next = this.#next(this.at);
    return next >= this.span.to;
  }

  /** The words from the place that no attempt got past. */
  get unread(): string {
    return this.span.slice(Math.min(this.furthest, this.span.to - 1) - this.span.from).trimmed.text;
  }

  /** The next token that is no small word, without taking it. */
  get token(): Token | undefined {
    const at = this.#next(this.at);
    return at < this.span.to ? this.span.all[at] : undefined;
  }

  /** What follows the next token directly. */
  get following(): Token | undefined {
    const at = this.#next(this.#next(this.at) + 1);
    return at < this.span.to ? this.span.all[at] : undefined;
  }

  /** Takes the next token where it passes a test. */
  take(test: (token: Token) => boolean): Token | undefined {
    const at = this.#next(this.at);
    const token = at < this.span.to ? this.span.all[at] : undefined;
    if (token === undefined || !test(token)) return undefined;
    this.#moveTo(at + 1);
    return token;
  }

  /** Takes one of several words. */
  word(...words: readonly string[]): string | undefined {
    return this.take((token) => token.kind !== "quote" && words.includes(token.lower))?.lower;
  }

  /** Takes one of several phrases, `how many|number of`, and gives it. */
  one(phrases: string): string | undefined {
    return this.phrase(phrasesOf(phrases));
  }

  /** Takes one of several phrases, where one follows. */
  is(phrases: string): boolean {
    return this.one(phrases) !== undefined;
  }

  /** Takes as many of some words as follow. */
  skip(words: string): void {
    const list = words.split(" ");
    while (this.word(...list) !== undefined);
  }

  /** Takes the longest phrase of a vocabulary, and gives what it means. */
  phrase(phrases: Phrases): string | undefined {
    return this.attempt(() => {
      for (const [words, meaning] of entriesOf(phrases).get(this.token?.lower ?? "") ?? [])
        if (this.attempt(() => words.every((word) => this.word(word) !== undefined) || undefined))
          return meaning;
      return undefined;
    });
  }

  /** Reads something, or stays where it is. */
  attempt<Found>(read: () => Found | undefined): Found | undefined {
    const { at } = this;
    const found = read();
    if (found === undefined) this.at = at;
    return found;
  }

  /** Takes what a test takes as a whole, or nothing. */
  takes(test: () => boolean): boolean {
    return this.attempt(() => test() || undefined) === true;
  }

  /** The same, where trying says nothing about how far the words were understood. */
  quietly<Found>(read: () => Found | undefined): Found | undefined {
    const { furthest } = this;
    const found = this.attempt(read);
    if (found === undefined) this.furthest = furthest;
    return found;
  }

  /** The tokens that follow each other next and pass a test, without taking them. */
  run(test: (token: Token) => boolean, limit: number): readonly Token[] {
    const start = this.#next(this.at);
    const found = this.span.all.slice(start, Math.min(start + limit, this.span.to));
    const end = found.findIndex((token) => !test(token));
    return end < 0 ? found : found.slice(0, end);
  }

  /** Takes so many tokens of a {@link run}. */
  accept(count: number): true {
    this.#moveTo(this.#next(this.at) + count);
    return true;
  }

  #moveTo(at: number): void {
    this.at = at;
    this.furthest = Math.max(this.furthest, at);
  }

  #next(from: number): number {
    let at = from;
    while (at < this.span.to && isSmall(this.span.all[at])) at += 1;
    return at;
  }
}

type Entry = readonly [words: readonly string[], meaning: string];
const indexed = new WeakMap<Phrases, ReadonlyMap<string, readonly Entry[]>>();

/** The phrases by their first word, the longest first. */
function entriesOf(phrases: Phrases): ReadonlyMap<string, readonly Entry[]> {
  const known = indexed.get(phrases);
  if (known !== undefined) return known;
  const entries = Object.entries(phrases).map(([text, meaning]): Entry => [text.split(" "), meaning]);
  const index = Map.groupBy(
    entries.toSorted(([a], [b]) => b.length - a.length),
    ([words]) => words[0] ?? "",
  );
  indexed.set(phrases, index);
  return index;
}

const written = new Map<string, Phrases>();

function phrasesOf(text: string): Phrases {
  const known = written.get(text) ?? Object.fromEntries(text.split("|").map((phrase) => [phrase, phrase]));
  written.set(text, known);
  return known;
}

import type { JsonValue } from "@cem/core";
import { isSmall, Span, textOf, type Token, type TokenKind } from "./token.ts";

/**
 * What a slot takes: one token of a kind; `name`, a word or a quoted word; `value`, a single literal or word; `words`, as few
 * tokens as possible; `rest`, all that is left.
 */
export type SlotKind = TokenKind | "name" | "value" | "words" | "rest";

/** Phrases by what they mean: `at least` means `>=`. */
export type Phrases = Readonly<Record<string, string>>;

type Element =
  | { kind: "word"; words: ReadonlySet<string> }
  | { kind: "group"; alternatives: readonly Sequence[]; isOptional: boolean }
  | { kind: "slot"; name: string; slot: SlotKind }
  | {
      kind: "phrases";
      name: string;
      entries: readonly (readonly [words: readonly string[], meaning: string])[];
    };

type Sequence = readonly Element[];

/** A phrase that fits in more ways is read in none of the others. */
const MAX_MATCHES = 64;

/** What a pattern found. */
export class Match {
  readonly #slots: ReadonlyMap<string, Span>;
  readonly #meanings: ReadonlyMap<string, string>;

  constructor(slots: ReadonlyMap<string, Span>, meanings: ReadonlyMap<string, string>) {
    this.#slots = slots;
    this.#meanings = meanings;
  }

  has(name: string): boolean {
    return this.#slots.has(name) || this.#meanings.has(name);
  }

  /** The tokens of a slot; empty where it was left out. */
  span(name: string): Span {
    return this.#slots.get(name) ?? new Span("", []);
  }

  /** What a phrase means; empty where it was left out. */
  meaning(name: string): string {
    return this.#meanings.get(name) ?? "";
  }

  /** A slot's text as it is written, without small words around it; what is quoted without its quotes. */
  text(name: string): string {
    const span = this.span(name).trimmed;
    const [only] = span.tokens;
    return span.length === 1 && only?.kind === "quote" ? textOf(only) : span.text;
  }

  number(name: string): number | undefined {
    const value = this.span(name).literal?.value;
    return typeof value === "number" ? value : undefined;
  }

  /** The value of a slot that is a literal. */
  literal(name: string): { value: JsonValue } | undefined {
    return this.span(name).literal;
  }
}

/**
 * A pattern of a whole phrase. In its text `a|b` is one of several words, `x?` and `(…)?` may be left out, `(… | …)` with
 * spaces are alternatives, `{name}` takes as few words as possible, `{name:kind}` something of a kind, and `{name:@class}` or `@class` a
 * phrase of a vocabulary. Small words may stand anywhere.
 */
export class Pattern {
  readonly #elements: Sequence;
  readonly #first: ReadonlySet<string> | undefined;

  constructor(text: string, classes: Readonly<Record<string, Phrases>> = {}) {
    const reader = {
      parts: text.match(/\{[^{}]*\}\??|\s\|\s|[()?]|[^\s(){}?|]+(?:\|[^\s(){}?|]+)*/gu) ?? [],
      at: 0,
      classes,
    };
    const alternatives = readAlternatives(reader);
    const [only = []] = alternatives;
    this.#elements = alternatives.length === 1 ? only : [{ kind: "group", alternatives, isOptional: false }];
    this.#first = firstWords(this.#elements);
  }

  /** The first way in which the pattern fits the whole span. */
  match(span: Span): Match | undefined {
    for (const found of this.matches(span)) return found;
    return undefined;
  }

  /** All ways in which it fits, the shortest slots first. */
  *matches(span: Span): Generator<Match> {
    if (this.#first !== undefined && !startsWith(span, this.#first)) return;
    const run: Run = {
      span,
      whole: this.#elements,
      failed: new Map(),
      slots: new Map(),
      meanings: new Map(),
    };
    let found = 0;
    for (const _ of matchSequence(run, this.#elements, 0, span.from)) {
      found += 1;
      if (found > MAX_MATCHES) return;
      yield new Match(new Map(run.slots), new Map(run.meanings));
    }
  }
}

interface Reader {
  parts: readonly string[];
  at: number;
  classes: Readonly<Record<string, Phrases>>;
}

function readAlternatives(reader: Reader): Element[][] {
  const alternatives: Element[][] = [[]];
  for (
    let part = reader.parts[reader.at];
    part !== undefined && part !== ")";
    part = reader.parts[reader.at]
  ) {
    reader.at += 1;
    if (part.trim() === "|") alternatives.push([]);
    else alternatives.at(-1)?.push(readElement(part, reader));
  }
  return alternatives;
}

function readElement(part: string, reader: Reader): Element {
  if (part === "(") {
    const alternatives = readAlternatives(reader);
    reader.at += 1;
    return { kind: "group", alternatives, isOptional: takeOptional(reader) };
  }
  const element = readPlain(part.replace(/(?<=\})\?$/u, ""), reader);
  const isOptional = part.endsWith("}?") || takeOptional(reader);
  return isOptional ? { kind: "group", alternatives: [[element]], isOptional: true } : element;
}

function takeOptional(reader: Reader): boolean {
  if (reader.parts[reader.at] !== "?") return false;
  reader.at += 1;
  return true;
}

function readPlain(part: string, reader: Reader): Element {
  if (part.startsWith("@")) return readPhrases(part.slice(1), part.slice(1), reader);
  if (!part.startsWith("{")) return { kind: "word", words: new Set(part.split("|")) };
  const [name = "", kind = "words"] = part.slice(1, -1).split(":");
  if (kind.startsWith("@")) return readPhrases(name, kind.slice(1), reader);
  return { kind: "slot", name, slot: kind as SlotKind };
}

function readPhrases(name: string, className: string, { classes }: Reader): Element {
  const phrases = classes[className];
  if (phrases === undefined) throw new Error(`A pattern names the class @${className}, which there is not.`);
  const entries = Object.entries(phrases).map(([words, meaning]) => [words.split(" "), meaning] as const);
  return { kind: "phrases", name, entries: entries.toSorted(([a], [b]) => b.length - a.length) };
}

/** The words that a pattern can begin with; `undefined` where it is not known. */
function firstWords(elements: Sequence): ReadonlySet<string> | undefined {
  const [first] = elements;
  if (first === undefined || first.kind === "slot") return undefined;
  if (first.kind === "word") return first.words;
  if (first.kind === "phrases") return new Set(first.entries.map(([[word = ""]]) => word));
  const inside = first.alternatives.map(firstWords);
  const after = first.isOptional ? firstWords(elements.slice(1)) : new Set<string>();
  if (after === undefined || inside.includes(undefined)) return undefined;
  return new Set([...after, ...inside.flatMap((words) => [...(words ?? [])])]);
}

function startsWith(span: Span, words: ReadonlySet<string>): boolean {
  for (const token of span.tokens) {
    if (token.kind !== "quote" && words.has(token.lower)) return true;
    if (!isSmall(token)) return false;
  }
  return false;
}

function onlySmall(span: Span, from: number): boolean {
  for (let at = from; at < span.to; at += 1) {
    const token = span.all[at];
    if (!isSmall(token) && token?.kind !== "mark") return false;
  }
  return true;
}

interface Run {
  span: Span;
  /** The pattern's own sequence, which has to reach the end of the span. */
  whole: Sequence;
  /** Where the rest of a sequence was seen not to fit, so that it is not tried again: places of it and of the span. */
  failed: Map<Sequence, Set<number>>;
  slots: Map<string, Span>;
  meanings: Map<string, string>;
}

/** Gives every place in the span where the rest of a sequence can end. */
function* matchSequence(run: Run, sequence: Sequence, at: number, from: number): Generator<number> {
  const element = sequence[at];
  if (element === undefined) {
    if (sequence !== run.whole || onlySmall(run.span, from)) yield from;
    return;
  }
  const failed = run.failed.get(sequence) ?? new Set<number>();
  run.failed.set(sequence, failed);
  const key = from * (sequence.length + 1) + at;
  if (failed.has(key)) return;
  let fits = false;
  const place = function* (ends: Generator<number>): Generator<number> {
    for (const end of ends) {
      fits = true;
      yield end;
    }
  };
  for (const end of matchElement(run, element, from)) yield* place(matchSequence(run, sequence, at + 1, end));
  if (from < run.span.to && isSmall(run.span.all[from]) && element.kind !== "slot")
    yield* place(matchSequence(run, sequence, at, from + 1));
  if (!fits) failed.add(key);
}

function* matchElement(run: Run, element: Element, from: number): Generator<number> {
  const { span } = run;
  const token = from < span.to ? span.all[from] : undefined;
  switch (element.kind) {
    case "word":
      if (token !== undefined && token.kind !== "quote" && element.words.has(token.lower)) yield from + 1;
      return;
    case "phrases":
      for (const [words, meaning] of element.entries) {
        if (!words.every((word, at) => from + at < span.to && isWord(span.all[from + at], word))) continue;
        run.meanings.set(element.name, meaning);
        yield from + words.length;
        run.meanings.delete(element.name);
      }
      return;
    case "group":
      for (const alternative of element.alternatives) yield* matchSequence(run, alternative, 0, from);
      if (element.isOptional) yield from;
      return;
    case "slot":
      for (const end of slotEnds(span, element.slot, from)) {
        run.slots.set(element.name, new Span(span.source, span.all, from, end));
        yield end;
        run.slots.delete(element.name);
      }
  }
}

function isWord(token: Token | undefined, word: string): boolean {
  return token !== undefined && token.kind !== "quote" && token.lower === word;
}

function* slotEnds(span: Span, slot: SlotKind, from: number): Generator<number> {
  if (slot === "words") {
    // Small words before the next element are stepped over: with them or without would be the same twice.
    for (let end = from + 1; end <= span.to; end += 1)
      if (end === span.to || !isSmall(span.all[end - 1])) yield end;
    return;
  }
  if (slot === "rest") {
    if (from < span.to) yield span.to;
    return;
  }
  let start = from;
  while (start < span.to && isSmall(span.all[start])) start += 1;
  yield* singleEnd(span, slot, start);
  // What looks like an article may be a name: `the field a`.
  if (start > from && span.all[start - 1]?.lower === "a") yield* singleEnd(span, slot, start - 1);
}

function* singleEnd(span: Span, slot: SlotKind, at: number): Generator<number> {
  const token = at < span.to ? span.all[at] : undefined;
  if (token === undefined) return;
  const next = span.all[at + 1];
  const isNegative =
    token.lower === "-" && next?.kind === "number" && next.start === token.end && at + 1 < span.to;
  if (isNegative && (slot === "number" || slot === "value")) yield at + 2;
  else if (fitsSlot(token, slot)) yield at + 1;
}

function fitsSlot(token: Token, slot: SlotKind): boolean {
  if (slot === "name") return token.kind === "word" || (token.kind === "quote" && !/\s/u.test(textOf(token)));
  if (slot === "value") return token.kind !== "mark" && token.kind !== "sign" && token.kind !== "braces";
  return token.kind === slot;
}

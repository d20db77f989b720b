import type { Column, Columns } from "./columns.ts";
import { Cursor } from "./cursor.ts";
import type { Span } from "../../language/token.ts";
import type { Selection } from "./selection.ts";

/** Takes the noun that names the rows, and says whether it names one of them. `undefined` where there is none. */
export type NounReader = (cursor: Cursor) => Noun | undefined;

/** What the rows are called in the text. */
export interface Noun {
  word: string;
  isSingular: boolean;
  /** `them`: rows that were spoken of. */
  isPronoun: boolean;
  /** `the users`: the ones that were spoken of, rather than all there are. */
  isDefinite: boolean;
}

/** A question about rows, while it is being read. */
export class RowReader {
  readonly cursor: Cursor;
  readonly columns: Columns;
  readonly #noun: NounReader;
  /** The rows are in an order already. */
  readonly isSorted: boolean;
  selection: Selection = { conditions: [], sort: [] };
  /** What the step begins with: `ask`, `keep`, `drop`. */
  verb = "";
  /** What lacks, where all words were understood. */
  problem: string | undefined;
  /** How the rows were named. */
  noun: Noun | undefined;

  constructor(span: Span, columns: Columns, noun: NounReader, isSorted = false) {
    this.cursor = new Cursor(span);
    this.columns = columns;
    this.#noun = noun;
    this.isSorted = isSorted;
  }

  get isSingular(): boolean {
    return this.noun?.isSingular ?? false;
  }

  get hasNoun(): boolean {
    return this.noun !== undefined;
  }

  /** Takes a column; `order total` names the rows as well. */
  takeColumn(): Column | undefined {
    const column = this.columns.take(this.cursor);
    if (column?.namesRows === true)
      this.noun ??= { word: column.words, isSingular: false, isPronoun: false, isDefinite: false };
    return column;
  }

  takeNoun(): boolean {
    const found = this.cursor.attempt(() => this.#noun(this.cursor));
    this.noun = found ?? this.noun;
    return found !== undefined;
  }

  /** Tries to read all that is left in one way. What was found is forgotten where it does not fit. */
  whole(read: () => boolean): boolean {
    const { selection, noun, verb, cursor } = this;
    const { at } = cursor;
    this.selection = { ...selection, conditions: [...selection.conditions], sort: [...selection.sort] };
    if (read() && cursor.isDone) return true;
    this.selection = selection;
    this.noun = noun;
    this.verb = verb;
    cursor.at = at;
    return false;
  }
}

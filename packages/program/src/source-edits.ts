interface Edit {
  start: number;
  end: number;
  text: string;
}

const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/g;

/** Collects edits of a source text that keep the number of every line, and columns where the new text fits. */
export class SourceEdits {
  readonly #source: string;
  readonly #edits: Edit[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  /** Replaces a range. The text is padded to the range's width, or followed by the range's line breaks if it has any. */
  overwrite(start: number, end: number, text = ""): void {
    const old = this.#source.slice(start, end);
    const breaks = old.match(LINE_BREAK)?.join("") ?? "";
    this.#edits.push({ start, end, text: breaks === "" ? text.padEnd(end - start) : text + breaks });
  }

  /** Inserts a text before a position. */
  insert(position: number, text: string): void {
    this.#edits.push({ start: position, end: position, text });
  }

  /** Applies the edits. */
  toString(): string {
    const ordered = this.#edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
    const parts: string[] = [];
    let position = 0;
    for (const { start, end, text } of ordered) {
      parts.push(this.#source.slice(position, start), text);
      position = end;
    }
    parts.push(this.#source.slice(position));
    return parts.join("");
  }
}

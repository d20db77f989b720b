interface Edit {
  start: number;
  end: number;
  text: string;
}

const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/g;

/** Replaces parts of a source text and keeps every line where it was, and columns where there is room. */
export class SourceEdits {
  readonly #source: string;
  readonly #edits: Edit[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  /** Writes `text` over a range, padded to its width on one line; the range's line breaks follow it. */
  overwrite(start: number, end: number, text = ""): void {
    const old = this.#source.slice(start, end);
    const breaks = old.match(LINE_BREAK)?.join("") ?? "";
    this.#edits.push({ start, end, text: breaks === "" ? text.padEnd(end - start) : text + breaks });
  }

  insert(position: number, text: string): void {
    this.#edits.push({ start: position, end: position, text });
  }

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

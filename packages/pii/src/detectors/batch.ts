import type { Detector, PiiType } from "../types.ts";

/** A text to look at, and the name under which it stands in an object. */
export interface DetectedText {
  text: string;
  key?: string | undefined;
}

/** A detector that is asked for many texts at once, since each request costs. */
export interface BatchDetector {
  type: PiiType;
  /** @returns the places in each text, in the order of the texts. */
  findAll: (texts: readonly DetectedText[]) => readonly (readonly { start: number; end: number }[])[];
}

/** Turns what a user declares into a detector that knows what it was prepared for. */
export function createBatchDetector({ type, findAll }: BatchDetector): Detector {
  let prepared = new Map<string, readonly { start: number; end: number }[]>();
  const find = (texts: readonly DetectedText[]): readonly (readonly { start: number; end: number }[])[] =>
    texts.length === 0 ? [] : findAll(texts);
  return {
    prepare(texts) {
      prepared = new Map();
      for (const [index, places] of find(texts).entries()) {
        const text = texts[index];
        if (text !== undefined) prepared.set(nameOf(text.text, text.key), places);
      }
    },
    find(text, key) {
      const places = prepared.get(nameOf(text, key)) ?? find([{ text, key }])[0] ?? [];
      return places.map(({ start, end }) => ({ start, end, type }));
    },
  };
}

function nameOf(text: string, key = ""): string {
  return `${key}\n${text}`;
}

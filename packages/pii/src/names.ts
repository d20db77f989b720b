import { CemError } from "@cem/core";
import { importFromProject } from "@cem/core/files";
import type { Finding, Recognizer } from "./context.ts";

/** The used part of the library. */
interface Transformers {
  env: { allowRemoteModels: boolean };
  pipeline(task: "token-classification", model: string): Promise<Classify>;
}

/** Labels the words of a text, or parts of them, in their order. A model reads only the beginning of a long text. */
type Classify = (text: string, options: { ignore_labels: string[] }) => Promise<Token[]>;

interface Token {
  entity: string;
  score: number;
  /** As the model's tokenizer has it: maybe in lower case, without accents, and with `##` before a part of a word. */
  word: string;
}

/** Settings of {@link createNameRecognizer}. */
export interface NameRecognizerSettings {
  /** A folder with a model for token classification in ONNX, such as a BERT for named entities. Nothing is downloaded. */
  modelDir: string;
}

const LIBRARY: string = "@huggingface/transformers";
/** Minimum score, from 0 to 1. */
const MIN_SCORE = 0.6;
/** Longer texts are read in parts. Models read about 512 tokens. */
const MAX_PART_CHARACTERS = 1_000;
/** A word is not taken for longer. */
const MAX_WORD_CHARACTERS = 100;
/** Letters of words that have borders: in scripts without upper case there may be none between them. */
const CASED = /[\p{Lu}\p{Ll}\p{M}]/u;
/** Labels of models, without the prefixes `B-` and `I-`. */
const TYPES: Readonly<Record<string, string>> = {
  PER: "NAME",
  PERSON: "NAME",
  NAME: "NAME",
  LOC: "ADDRESS",
  GPE: "ADDRESS",
  FAC: "ADDRESS",
  ADDRESS: "ADDRESS",
};

/**
 * Creates a recognizer of names and addresses that runs a local model, using the optional package
 * `@huggingface/transformers`, which is loaded on first use.
 */
export function createNameRecognizer({ modelDir }: NameRecognizerSettings): Recognizer {
  let loading: Promise<Classify> | undefined;
  return {
    specificationVersion: "v1",
    async recognize(texts) {
      loading ??= load(modelDir);
      try {
        const classify = await loading;
        const found: Finding[][] = [];
        for (const text of texts) found.push(await recognizeIn(text, classify));
        return found;
      } catch (error) {
        loading = undefined;
        throw CemError.isInstance(error) ? error : failure(modelDir, error);
      }
    },
  };
}

async function recognizeIn(text: string, classify: Classify): Promise<Finding[]> {
  const found: Finding[] = [];
  for (let from = 0; from < text.length;) {
    const part = text.slice(from, from + MAX_PART_CHARACTERS);
    const folded = fold(part);
    let at = 0;
    for (const { entity, score, word } of await classify(part, { ignore_labels: [] })) {
      const piece = fold(word.trim().replace(/^##/, "")).text;
      const start = folded.text.indexOf(piece, at);
      if (start === -1 || piece === "") continue;
      at = start + piece.length;
      const type = TYPES[entity.replace(/^[BIES]-/, "").toUpperCase()];
      if (type === undefined || score < MIN_SCORE) continue;
      const finding = wholeWords(text, from + (folded.starts[start] ?? 0), from + (folded.starts[at] ?? 0));
      const last = found.at(-1);
      if (last?.type === type && finding.start <= last.end + 1) last.end = Math.max(last.end, finding.end);
      else found.push({ ...finding, type });
    }
    from += readOf(part, folded.starts[at] ?? 0, from + part.length === text.length);
  }
  return found;
}

/** A text in lower case and without accents, with the place in it where each of its characters, and its end, come from. */
function fold(text: string): { text: string; starts: number[] } {
  let folded = "";
  const starts: number[] = [];
  let start = 0;
  for (const character of text) {
    folded += character.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    while (starts.length < folded.length) starts.push(start);
    start += character.length;
  }
  return { text: folded, starts: [...starts, start] };
}

/** Extends a part of a text to whole words: the rest of a name would tell it. */
function wholeWords(text: string, from: number, to: number): { start: number; end: number } {
  let [start, end] = [from, to];
  while (from - start < MAX_WORD_CHARACTERS && CASED.test(text.charAt(start - 1))) start -= 1;
  while (end - to < MAX_WORD_CHARACTERS && CASED.test(text.charAt(end))) end += 1;
  return { start, end };
}

/** How many characters of a part were read. The word at which the model or the part ends is read with the next one. */
function readOf(part: string, end: number, isLast: boolean): number {
  if (isLast && !/\p{L}/u.test(part.slice(end))) return part.length;
  const border = Math.max(...[" ", "\n", "\t"].map((space) => part.lastIndexOf(space, end - 1)));
  if (border > 0) return border;
  return end > 0 ? end : part.length;
}

function failure(modelDir: string, cause: unknown): CemError {
  const message = `The model in ${modelDir} that finds names can't be loaded.`;
  return new CemError("RECOGNIZER_FAILED", message, { details: { modelDir }, cause });
}

async function load(modelDir: string): Promise<Classify> {
  // The name is in a variable, since the package is optional and its types must not be needed for the build.
  const library = await (import(LIBRARY) as Promise<Transformers>).catch((cause: unknown) =>
    importFromProject<Transformers>(LIBRARY, cause, () => failure(modelDir, cause)),
  );
  library.env.allowRemoteModels = false;
  return library.pipeline("token-classification", modelDir);
}

import { CemError } from "@cem/core";
import type { Finding, Recognizer } from "./context.ts";

/** The used part of the library. */
interface Transformers {
  env: { allowRemoteModels: boolean };
  pipeline(task: "token-classification", model: string): Promise<Classify>;
}

/** Labels the words of a text. */
type Classify = (text: string) => Promise<{ entity: string; score: number; word: string }[]>;

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
      const classify = await (loading ??= load(modelDir));
      const found: Finding[][] = [];
      for (const text of texts) found.push(await recognizeIn(text, classify));
      return found;
    },
  };
}

async function recognizeIn(text: string, classify: Classify): Promise<Finding[]> {
  const found: Finding[] = [];
  for (let from = 0; from < text.length; from += MAX_PART_CHARACTERS) {
    const part = text.slice(from, from + MAX_PART_CHARACTERS);
    let at = 0;
    let last: Finding | undefined;
    for (const { entity, score, word } of await classify(part)) {
      const type = TYPES[entity.replace(/^[BIES]-/, "").toUpperCase()];
      const piece = word.replace(/^##/, "");
      const start = part.indexOf(piece, at);
      if (start === -1) continue;
      at = start + piece.length;
      if (type === undefined || score < MIN_SCORE) continue;
      const isNext = last?.type === type && start + from - last.end <= 1;
      if (last !== undefined && isNext) last.end = at + from;
      else found.push((last = { start: start + from, end: at + from, type }));
    }
  }
  return found;
}

async function load(modelDir: string): Promise<Classify> {
  try {
    // The name is in a variable, since the package is optional and its types must not be needed for the build.
    const library = (await import(LIBRARY)) as Transformers;
    library.env.allowRemoteModels = false;
    return await library.pipeline("token-classification", modelDir);
  } catch (cause) {
    const message = `The model in ${modelDir} that finds names can't be loaded.`;
    throw new CemError("RECOGNIZER_FAILED", message, { details: { modelDir }, cause });
  }
}

import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import onnxProto from "onnx-proto";
import { MEANINGS } from "./embeddings-server.ts";

const { onnx } = onnxProto;

const UNKNOWN = "[UNK]";
const PADDING = "[PAD]";
const FLOAT = onnx.TensorProto.DataType.FLOAT;
const INT64 = onnx.TensorProto.DataType.INT64;

/** The number of values in a vector of the model. */
export const TINY_DIMENSIONS = MEANINGS.length + 1;

/** A model that looks up a vector for each word or part of a word. */
interface TinyModel {
  /** The name of the ONNX file. */
  weights: string;
  config: object;
  /** The tokenizer's own way to lower case, or to keep it. */
  normalizer: object | null;
  /** The model of the tokenizer but for its vocabulary. */
  tokenizing: object;
  words: readonly string[];
  dimensions: number;
  vectorOf: (word: string) => readonly number[];
  output: string;
}

/**
 * Writes a small but real embedding model in the format of `@huggingface/transformers`: a tokenizer of whole words, and an
 * ONNX graph that looks up a vector for each of them. The library does the pooling.
 *
 * @param weights - The name of the ONNX file.
 */
export function writeTinyModel(folder: string, weights = "model.onnx"): Promise<void> {
  return writeModel(folder, {
    weights,
    config: { architectures: ["BertModel"] },
    normalizer: { type: "Lowercase" },
    tokenizing: { type: "WordLevel" },
    words: MEANINGS.flat(),
    dimensions: TINY_DIMENSIONS,
    vectorOf,
    output: "last_hidden_state",
  });
}

/**
 * Writes a small but real model for token classification: a word, or a part after `##`, has the label given for it.
 *
 * @param isCased - Whether it tells upper from lower case; else its words are in lower case.
 */
export function writeTinyLabeller(
  folder: string,
  labels: Readonly<Record<string, string>>,
  isCased: boolean,
): Promise<void> {
  const names = ["O", ...new Set(Object.values(labels))];
  return writeModel(folder, {
    weights: "model.onnx",
    config: {
      architectures: ["BertForTokenClassification"],
      id2label: Object.fromEntries(names.entries()),
      label2id: Object.fromEntries(names.map((name, id) => [name, id])),
    },
    normalizer: isCased
      ? null
      : { type: "Sequence", normalizers: [{ type: "NFD" }, { type: "StripAccents" }, { type: "Lowercase" }] },
    tokenizing: { type: "WordPiece", continuing_subword_prefix: "##", max_input_chars_per_word: 100 },
    words: Object.keys(labels),
    dimensions: names.length,
    vectorOf: (word) => names.map((name) => (name === (labels[word] ?? "O") ? 9 : 0)),
    output: "logits",
  });
}

async function writeModel(folder: string, model: TinyModel): Promise<void> {
  const words = [PADDING, UNKNOWN, ...model.words];
  await mkdir(path.join(folder, "onnx"), { recursive: true });
  await writeJson(folder, "config.json", {
    model_type: "bert",
    hidden_size: model.dimensions,
    vocab_size: words.length,
    ...model.config,
  });
  await writeJson(folder, "tokenizer_config.json", {
    tokenizer_class: "PreTrainedTokenizerFast",
    unk_token: UNKNOWN,
    pad_token: PADDING,
    model_max_length: 128,
  });
  await writeJson(folder, "tokenizer.json", tokenizer(words, model));
  await writeFile(path.join(folder, "onnx", model.weights), encoder(words, model));
}

async function writeJson(folder: string, name: string, content: unknown): Promise<void> {
  await writeFile(path.join(folder, name), JSON.stringify(content));
}

function tokenizer(words: readonly string[], { normalizer, tokenizing }: TinyModel): unknown {
  const special = [PADDING, UNKNOWN].map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: special,
    normalizer,
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: null,
    decoder: null,
    model: {
      ...tokenizing,
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
      unk_token: UNKNOWN,
    },
  };
}

/** A lookup of `input_ids` in a table. */
function encoder(words: readonly string[], model: TinyModel): Uint8Array {
  const value = (name: string, elemType: number, shape: (string | number)[]) => ({
    name,
    type: {
      tensorType: {
        elemType,
        shape: {
          dim: shape.map((size) => (typeof size === "string" ? { dimParam: size } : { dimValue: size })),
        },
      },
    },
  });
  const floatData = words.flatMap((word) => [...model.vectorOf(word)]);
  return onnx.ModelProto.encode({
    irVersion: 8,
    opsetImport: [{ domain: "", version: 13 }],
    graph: {
      name: "tiny",
      node: [{ opType: "Gather", input: ["table", "input_ids"], output: [model.output], name: "lookup" }],
      initializer: [{ name: "table", dataType: FLOAT, dims: [words.length, model.dimensions], floatData }],
      input: [
        value("input_ids", INT64, ["batch", "tokens"]),
        value("attention_mask", INT64, ["batch", "tokens"]),
      ],
      output: [value(model.output, FLOAT, ["batch", "tokens", model.dimensions])],
    },
  }).finish();
}

/** One axis for each meaning, and one for all words without a meaning. */
function vectorOf(word: string): number[] {
  const meaning = MEANINGS.findIndex((words) => words.includes(word));
  const axis = meaning < 0 ? MEANINGS.length : meaning;
  return Array.from({ length: TINY_DIMENSIONS }, (_, at) => (at === axis ? (meaning < 0 ? 0.1 : 1) : 0));
}

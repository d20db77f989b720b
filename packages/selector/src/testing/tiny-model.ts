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

/**
 * Writes a small but real model in the format of `@huggingface/transformers`: a tokenizer of whole words, and an ONNX
 * graph that looks up a vector for each of them. The library does the pooling.
 *
 * @param weights - The name of the ONNX file.
 */
export async function writeTinyModel(folder: string, weights = "model.onnx"): Promise<void> {
  const words = [PADDING, UNKNOWN, ...MEANINGS.flat()];
  await mkdir(path.join(folder, "onnx"), { recursive: true });
  await writeJson(folder, "config.json", {
    model_type: "bert",
    architectures: ["BertModel"],
    hidden_size: TINY_DIMENSIONS,
    vocab_size: words.length,
  });
  await writeJson(folder, "tokenizer_config.json", {
    tokenizer_class: "PreTrainedTokenizerFast",
    unk_token: UNKNOWN,
    pad_token: PADDING,
    model_max_length: 128,
  });
  await writeJson(folder, "tokenizer.json", tokenizer(words));
  await writeFile(path.join(folder, "onnx", weights), encoder(words));
}

async function writeJson(folder: string, name: string, content: unknown): Promise<void> {
  await writeFile(path.join(folder, name), JSON.stringify(content));
}

function tokenizer(words: readonly string[]): unknown {
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
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: null,
    decoder: null,
    model: {
      type: "WordLevel",
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
      unk_token: UNKNOWN,
    },
  };
}

/** A lookup of `input_ids` in a table: one axis for each meaning, and one for all words without a meaning. */
function encoder(words: readonly string[]): Uint8Array {
  const table = words.flatMap((word) => vectorOf(word));
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
  return onnx.ModelProto.encode({
    irVersion: 8,
    opsetImport: [{ domain: "", version: 13 }],
    graph: {
      name: "tiny",
      node: [
        { opType: "Gather", input: ["table", "input_ids"], output: ["last_hidden_state"], name: "lookup" },
      ],
      initializer: [
        { name: "table", dataType: FLOAT, dims: [words.length, TINY_DIMENSIONS], floatData: table },
      ],
      input: [
        value("input_ids", INT64, ["batch", "tokens"]),
        value("attention_mask", INT64, ["batch", "tokens"]),
      ],
      output: [value("last_hidden_state", FLOAT, ["batch", "tokens", TINY_DIMENSIONS])],
    },
  }).finish();
}

function vectorOf(word: string): number[] {
  const meaning = MEANINGS.findIndex((words) => words.includes(word));
  const axis = meaning < 0 ? MEANINGS.length : meaning;
  return Array.from({ length: TINY_DIMENSIONS }, (_, at) => (at === axis ? (meaning < 0 ? 0.1 : 1) : 0));
}

import { parentPort, workerData } from "node:worker_threads";
import { toErrorInfo } from "@cem/core";
import { importTransformers } from "./transformers-embedder.ts";
import type { Embedded, EmbedReply, EmbedRequest, ModelSettings } from "./transformers-embedder.ts";

interface Transformers {
  env: { allowRemoteModels: boolean; allowLocalModels: boolean };
  pipeline(task: "feature-extraction", model: string, options: { dtype: string }): Promise<Extractor>;
}

type Extractor = (
  texts: string[],
  options: { pooling: string; normalize: boolean },
) => Promise<{ data: Float32Array; dims: number[] }>;

/** Texts per run of the model. Larger batches need more memory and are no faster. */
const BATCH_TEXTS = 16;

const settings = workerData as ModelSettings;
let extractor: Promise<Extractor> | undefined;
let queue = Promise.resolve();

parentPort?.on("message", (request: EmbedRequest) => {
  // One at a time, since the model uses all cores for one batch.
  queue = queue.then(() => answer(request));
});

async function answer({ id, texts }: EmbedRequest): Promise<void> {
  try {
    extractor ??= load();
    const reply = await embed(await extractor, texts);
    parentPort?.postMessage({ id, ...reply }, [reply.data.buffer as ArrayBuffer]);
  } catch (error) {
    extractor = undefined;
    parentPort?.postMessage({ id, error: toErrorInfo(error) } satisfies EmbedReply, []);
  }
}

async function load(): Promise<Extractor> {
  const { modelDir, dtype } = settings;
  const transformers = await importTransformers<Transformers>(settings);
  const { env } = transformers;
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  // An absolute path is not a name on a hub, so it is read from disk.
  return transformers.pipeline("feature-extraction", modelDir, { dtype });
}

async function embed(extract: Extractor, texts: string[]): Promise<Embedded> {
  let data = new Float32Array();
  let dimensions = 0;
  for (let at = 0; at < texts.length; at += BATCH_TEXTS) {
    const batch = texts.slice(at, at + BATCH_TEXTS);
    const output = await extract(batch, { pooling: "mean", normalize: true });
    dimensions = output.dims.at(-1) ?? 0;
    if (data.length === 0) data = new Float32Array(texts.length * dimensions);
    data.set(output.data, at * dimensions);
  }
  return { dimensions, data };
}

/** A model whose files are known. */
export interface PinnedModel {
  /** The full commit of the model's repository. */
  revision: string;
  /** SHA-256 of each file, in hexadecimal, by its path in the repository. */
  files: Readonly<Record<string, string>>;
}

/** The model that is pulled when none is named: small, quick on a processor, made for English sentences. */
export const DEFAULT_MODEL = "Xenova/all-MiniLM-L6-v2";

const PINNED_MODELS: Readonly<Record<string, PinnedModel>> = {
  [DEFAULT_MODEL]: {
    revision: "751bff37182d3f1213fa05d7196b954e230abad9",
    files: {
      "config.json": "7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7",
      "tokenizer.json": "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
      "tokenizer_config.json": "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
      "onnx/model_quantized.onnx": "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    },
  },
};

/** The pinned revision and digests of a model, when it has some and no other revision is asked for. */
export function findPinned(name: string, revision: string | undefined): PinnedModel | undefined {
  const pinned = Object.hasOwn(PINNED_MODELS, name) ? PINNED_MODELS[name] : undefined;
  return revision === undefined || revision === pinned?.revision ? pinned : undefined;
}

/** An embedding model. Bring your own, or use one of this package. */
export interface Embedder {
  readonly specificationVersion: "v1";
  /** Identifies the model and everything that changes its vectors. Vectors are cached by it and never mixed. */
  readonly id: string;
  /** Computes a vector for each text, in order and all of the same length. They need not be normalised. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
  /** Frees the resources of the embedder, which is not used afterwards. */
  dispose?(): Promise<void>;
}

/** Options of {@link Embedder.embed}. */
export interface EmbedOptions {
  /** Whether the texts are queries or what is searched: some models treat them differently. */
  kind: "query" | "document";
  signal?: AbortSignal | undefined;
}

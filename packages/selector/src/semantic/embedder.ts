/** Turns texts into vectors whose closeness is closeness of meaning. Bring your own, or use one of this package. */
export interface Embedder {
  readonly specificationVersion: "v1";
  /** Names the model and all that changes its vectors: vectors of different ids are never mixed, nor cached as one. */
  readonly id: string;
  /** A vector for each text, in their order and all of one length; they need not be normalised. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
  /** Frees what the embedder holds. It is not used after that. */
  dispose?(): Promise<void>;
}

export interface EmbedOptions {
  /** Some models treat what is searched for and what is found differently. */
  kind: "query" | "document";
  signal?: AbortSignal | undefined;
}

export {
  createSelector,
  DEFAULT_SEARCH_LIMIT,
  DEFAULT_SELECT_LIMIT,
  DEFAULT_THRESHOLD,
  MAX_TASK_CHARACTERS,
} from "./selector.ts";
export type { Selector, SelectorSettings } from "./selector.ts";
export type { Embedder, EmbedOptions, SemanticState } from "./semantic/semantic-search.ts";
export { createOpenAiEmbedder, DEFAULT_EMBEDDING_TIMEOUT_MS } from "./semantic/openai-embedder.ts";
export type { OpenAiEmbedderSettings } from "./semantic/openai-embedder.ts";
export { createTransformersEmbedder } from "./semantic/transformers-embedder.ts";
export type { TransformersEmbedderSettings } from "./semantic/transformers-embedder.ts";
export type { RankedTool, Selection, SelectRequest, ToolDefinition, ToolSelector } from "@cem/core";

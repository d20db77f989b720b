export { shellWord, readableNumber } from "./printing.ts";
export * from "./vocabulary.ts";
export { identifierKey, splitWords, splitStems, stem, isStopWord } from "./words.ts";
export { editDistance, findLookAlike, nearest } from "./nearest.ts";
export { findQuotes, outline } from "./steps/outline.ts";
export * from "./steps/split-steps.ts";
export type { StepField } from "./steps/blocks.ts";
export type { StepCondition } from "./steps/clauses.ts";
export { isVerb } from "./steps/verbs.ts";

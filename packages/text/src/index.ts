export { isNamedAsChange } from "./changing-names.ts";
export { readableNumber } from "./readable-number.ts";
export { identifierKey, MAX_WORD_CHARACTERS, splitWords } from "./words.ts";
export { findLookAlike } from "./look-alike.ts";
export { editDistance, nearest } from "./words-nearest.ts";
export { characterNgrams } from "./words-ngrams.ts";
export { splitStems, stem } from "./words-stem.ts";
export { isStopWord } from "./words-stop.ts";
export { findQuotes, outline, outlineQuotes } from "./steps/outline.ts";
export type { QuotedText } from "./steps/outline.ts";
export { MAX_STEP_TEXT_CHARACTERS, splitSteps } from "./steps/split-steps.ts";
export type { SplitOptions, TaskStep } from "./steps/split-steps.ts";
export type { StepField } from "./steps/blocks.ts";
export type { StepCondition } from "./steps/conditions.ts";
export { beginsStep, isVerb } from "./steps/verbs.ts";
export { PROPERTY_WORDS } from "./vocabulary/properties.ts";
export { ASKING_VERBS, CHANGING, TOOL_VERBS } from "./vocabulary/verbs.ts";
export type { ActionKind } from "./vocabulary/verbs.ts";
export { NOUN_GROUPS } from "./vocabulary/nouns.ts";
export { DEMANDING_WORDS, SMALL_TALK } from "./vocabulary/small-talk.ts";
export { AGGREGATES, SHARES, STATISTICS } from "./vocabulary/aggregates.ts";
export {
  BOUNDS,
  COMPARATORS,
  DATE_COMPARATORS,
  EQUALITIES,
  NEGATIONS,
  TEXT_TESTS,
  UNITS,
} from "./vocabulary/comparators.ts";
export {
  COLUMN_NOUNS,
  MAKING_VERBS,
  MONTHS,
  PEOPLE,
  PLACE_COLUMNS,
  ROW_PRONOUNS,
  ROW_VERBS,
} from "./vocabulary/rows.ts";
export {
  COMPARATIVES,
  DIRECTIONS,
  EXTREMES,
  HIGHER,
  MEASURES,
  ORDINALS,
  PROPERTY_COLUMNS,
  SUPERLATIVES,
} from "./vocabulary/superlatives.ts";

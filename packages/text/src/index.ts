export { identifierKey, MAX_WORD_CHARACTERS, splitWords } from "./words.ts";
export { nearest } from "./words-nearest.ts";
export { characterNgrams, wordNgrams } from "./words-ngrams.ts";
export { splitStems, stem } from "./words-stem.ts";
export { isStopWord } from "./words-stop.ts";

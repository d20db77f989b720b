import { splitWords, stem } from "@cem/core/text";

/** Classes of verbs, one line each. Finer than actions; used to rank similar tools only. */
const CLASSES = `
  get show list view display enumerate retrieve fetch read describe find lookup query search see check what which who
    inspect give tell obtain when where how
  create add new make generate deploy issue provision build draft compose produce take
  update change modify edit set configure adjust patch replace enable disable rename resize alter
  delete remove drop erase destroy uninstall clear purge
  write save store upload import put export
  send post publish email notify share forward message
  start run execute begin launch restart trigger invoke
  stop cancel pause halt abort end kill
  convert translate transform parse encode decode
  validate verify test
  calculate compute evaluate
  install`;
const MAX_ASKING_CHARACTERS = 200;
const MAX_ASKING_WORDS = 8;

const CLASS_OF = new Map<string, number>(
  CLASSES.trim()
    .split(/\n {2}(?! )/u)
    .flatMap((line, number) =>
      line
        .trim()
        .split(/\s+/u)
        .map((word) => [stem(word), number] as const),
    ),
);

/** The class of the first verb near the beginning of a text, as a bit; 0 when there is none. */
export function askedVerbClass(text: string): number {
  const words = splitWords(text.slice(0, MAX_ASKING_CHARACTERS)).slice(0, MAX_ASKING_WORDS);
  return words.map(bitOf).find((bit) => bit !== 0) ?? 0;
}

/** The classes of the verbs in a name, a bit each. */
export function verbClassesOf(words: readonly string[]): number {
  return words.reduce<number>((bits, word) => bits | bitOf(word), 0);
}

function bitOf(word: string): number {
  const number = CLASS_OF.get(stem(word));
  return number === undefined ? 0 : 1 << number;
}

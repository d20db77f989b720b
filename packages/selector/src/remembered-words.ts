import { isStopWord, splitWords, stem } from "@cem/text";

/** Texts without spaces that stay split; catalogs say the same few thousand again and again. */
const MAX_REMEMBERED = 100_000;
const MAX_REMEMBERED_CHARACTERS = 100;

const words = new Map<string, readonly string[]>();
const stems = new Map<string, readonly string[]>();

/** The words of a name, as `splitWords` has them. */
export function wordsOf(name: string): readonly string[] {
  return remember(words, name, splitWords);
}

/** Has the words of a name that were found out before: finding them is what takes time. */
export function rememberWords(name: string, split: readonly string[]): void {
  remember(words, name, () => split);
}

/** The stems of a text's words, stop words left out. */
export function* stemsOf(text: string): Generator<string> {
  for (const token of text.split(/\s+/u)) {
    yield* remember(stems, token, stemsOfToken);
  }
}

function stemsOfToken(token: string): string[] {
  return splitWords(token)
    .filter((word) => !isStopWord(word))
    .map(stem);
}

function remember(
  known: Map<string, readonly string[]>,
  text: string,
  split: (text: string) => readonly string[],
): readonly string[] {
  const found = known.get(text);
  if (found !== undefined) {
    return found;
  }
  const result = split(text);
  if (known.size >= MAX_REMEMBERED) {
    known.clear();
  }
  if (text.length <= MAX_REMEMBERED_CHARACTERS) {
    known.set(text, result);
  }
  return result;
}

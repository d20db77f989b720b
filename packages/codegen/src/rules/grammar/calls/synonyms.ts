import { NOUN_GROUPS, stem } from "@cem/text";

const SAME = new Map<string, readonly string[]>();
for (const group of NOUN_GROUPS) {
  const stems = group.split(" ").map(stem);
  for (const word of stems) SAME.set(word, stems);
}

/** The stems of a stem's group, itself included. */
export function sameMeaning(word: string): readonly string[] {
  return SAME.get(word) ?? [word];
}

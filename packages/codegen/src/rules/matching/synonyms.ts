import { stem } from "@cem/text";

/** Groups of nouns with the same meaning. */
const GROUPS = [
  "event meeting appointment",
  "email mail",
  "issue bug ticket",
  "image picture photo",
  "directory folder",
  "repository repo",
  "task todo reminder",
  "message dm",
  "movie film",
  "product item",
  "user person member",
  "price cost quote",
  "page website webpage site",
  "document doc",
  "customer client",
  "stock share",
];

const SAME = new Map<string, readonly string[]>();
for (const group of GROUPS) {
  const stems = group.split(" ").map(stem);
  for (const word of stems) SAME.set(word, stems);
}

/** The stems of a stem's group, itself included. */
export function sameMeaning(word: string): readonly string[] {
  return SAME.get(word) ?? [word];
}

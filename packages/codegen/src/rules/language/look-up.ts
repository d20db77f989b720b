/** Reads an entry of a table by a word from outside: what objects inherit is no entry. */
export function lookUp<Entry>(table: Readonly<Record<string, Entry>>, word: string): Entry | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

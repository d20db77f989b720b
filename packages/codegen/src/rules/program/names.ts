const RESERVED = new Set(
  `abstract any arguments as async await boolean break case catch class const constructor continue debugger declare
  default delete do else enum eval export extends false finally for from function get if implements import in
  infer instanceof interface is keyof let module namespace never new null number object of package private
  protected public readonly require return set static string super switch symbol this throw true try type
  typeof undefined unique unknown using var void while with yield NaN Infinity Array Object String Number
  Boolean Math JSON Promise Date Error Map Set RegExp Symbol Reflect Proxy console process globalThis Deno
  Buffer fetch crypto performance structuredClone name status event top self window document location`
    .split(/\s+/)
    .filter((word) => !["name", "status", "event", "top", "location", "document", "object"].includes(word)),
);

/** Whether a text can stand after a dot or as an object's key. */
export function isIdentifier(text: string): boolean {
  return /^[A-Za-z_$][A-Za-z0-9_$]{0,80}$/u.test(text);
}

/** Words as a variable's name: `active users` to `activeUsers`. Empty when nothing is left of them. */
export function camelCase(words: string): string {
  const parts = words.match(/[A-Z]{2,}(?=[A-Z][a-z]|\b|_|\d)|[A-Za-z][a-z]*|\d+/gu) ?? [];
  const joined = parts
    .slice(0, 5)
    .map((part, index) =>
      index === 0 ? part.toLowerCase() : part.charAt(0).toUpperCase() + part.slice(1).toLowerCase(),
    )
    .join("")
    .slice(0, 40);
  return /^\d/u.test(joined) ? `_${joined}` : joined;
}

/** Gives out names that are valid and not taken. */
export class Names {
  readonly #taken = new Set<string>();

  /** Keeps a name from being given out. */
  reserve(name: string): void {
    this.#taken.add(name);
  }

  /** A free name made of words, or of the fallback when they hold no letters. */
  take(words: string, fallback: string): string {
    const base = camelCase(words) || camelCase(fallback) || "result";
    const safe = RESERVED.has(base) ? `${base}Value` : base;
    let free = safe;
    for (let count = 2; this.#taken.has(free) || RESERVED.has(free); count += 1) free = `${safe}${count}`;
    this.#taken.add(free);
    return free;
  }
}

/** `cities` to `city`. */
export function singular(word: string): string {
  if (/people$/iu.test(word)) return word.replace(/people$/iu, "person");
  if (/[^aeiou]ies$/iu.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|z|ch|sh)es$/iu.test(word)) return word.slice(0, -2);
  return /[^sui]s$/iu.test(word) ? word.slice(0, -1) : word;
}

/** `city` to `cities`. */
export function plural(word: string): string {
  if (singular(word) !== word) return word;
  if (/[^aeiou]y$/iu.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/iu.test(word) ? `${word}es` : `${word}s`;
}

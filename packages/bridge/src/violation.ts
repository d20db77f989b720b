/** What a value is, seen from its tool: each is described in its own words. */
export type Subject = "arguments" | "result";

/** What is wrong with arguments or a result: the first violation of their schema. */
export interface Violation {
  /**
   * Where it is: `filter.limit` or `tags[1]` in arguments, as code writes it, and a JSON Pointer such as
   * `/items/3/price` in a result. Empty for the whole.
   */
  path: string;
  /** What is wrong, in words. Never contains the value of an argument; of a result it shows what came, shortened. */
  message: string;
  /** Set where the value was too large or too deeply nested to be checked, so that it may be valid. */
  unchecked?: true;
}

/** Appends a property or an index to a path. */
export function joinPath(path: string, part: string, subject: Subject): string {
  if (subject === "result") return `${path}/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  if (path === "") return part;
  return /^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`;
}

/** Ends a violation's message: one that asks what was meant has its mark already. */
export function asSentence(message: string): string {
  return message.endsWith("?") ? message : `${message}.`;
}

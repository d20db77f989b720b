/** What is wrong with arguments or a result: the first violation of their schema. */
export interface ArgumentViolation {
  /** Path of the argument: `filter.limit`, `tags[1]`. Empty for the arguments as a whole. */
  argument: string;
  /** What is wrong, in words. Never contains the value that was given. */
  message: string;
}

/** Appends a property or an index to the path of an argument. */
export function joinPath(path: string, part: string): string {
  if (path === "") return part;
  return /^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`;
}

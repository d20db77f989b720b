/** The estimated size of a number, a property or an object, in characters. */
const NODE_CHARACTERS = 8;

/** Estimates the size of data in memory, in characters. Stops once the limit is exceeded. */
export function roughSize(data: unknown, limit: number): number {
  const pending: unknown[] = [data];
  let size = 0;
  while (pending.length > 0 && size <= limit) {
    const one = pending.pop();
    size += NODE_CHARACTERS;
    if (typeof one === "string") size += one.length;
    else if (one instanceof Uint8Array) size += one.byteLength;
    else if (typeof one === "object" && one !== null) {
      if (!Array.isArray(one)) for (const name of Object.keys(one)) size += name.length;
      for (const value of Object.values(one)) pending.push(value);
    }
  }
  return size;
}

const NEWLINE = 0x0a;

/**
 * Creates a function that takes chunks of a byte stream and returns the complete UTF-8 lines in them.
 *
 * The function throws a RangeError for a line that is longer than the limit, drops the chunk, and goes on with the
 * next one.
 */
export function createLineSplitter(maxLineBytes: number): (chunk: Buffer) => string[] {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const take = (last: Buffer): string => {
    const line = pending.length === 0 ? last : Buffer.concat([...pending, last]);
    pending = [];
    pendingBytes = 0;
    return line.toString("utf8");
  };
  return (chunk) => {
    const lines: string[] = [];
    let rest = chunk;
    for (;;) {
      const end = rest.indexOf(NEWLINE);
      const length = end === -1 ? rest.length : end;
      if (pendingBytes + length > maxLineBytes) {
        pending = [];
        pendingBytes = 0;
        throw new RangeError(`a line is longer than ${maxLineBytes} bytes`);
      }
      if (end === -1) break;
      lines.push(take(rest.subarray(0, end)));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) {
      pending.push(rest);
      pendingBytes += rest.length;
    }
    return lines;
  };
}

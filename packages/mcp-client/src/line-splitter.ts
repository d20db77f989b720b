const NEWLINE = 0x0a;

/** Cuts a stream of bytes into lines. A line longer than the limit throws, and what follows starts anew. */
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

import { parseJson } from "./json.ts";

const NEWLINE = 0x0a;

/** Bytes that are kept of each end of a line that is too long. */
const END_BYTES = 256;

/**
 * Creates a function that takes chunks of a byte stream and returns the complete UTF-8 lines in them.
 *
 * Without `onLongLine` the function throws a RangeError for a line that is longer than the limit, drops the chunk, and
 * continues with the next one.
 *
 * @param maxLineBytes - The limit in bytes, or a function that decides whether a line may have this many; called again
 *   as the line grows.
 * @param onLongLine - Called at the end of a line that is longer than the limit, with its beginning and its end.
 * @param large - Takes the bytes of lines beyond a size, which are not decoded.
 */
export function createLineSplitter(
  maxLineBytes: number | ((bytes: number) => boolean),
  onLongLine?: (ends: [first: string, last: string]) => void,
  large?: { bytes: number; take: (line: Buffer) => void },
): (chunk: Buffer) => string[] {
  const isTooLong = (bytes: number): boolean =>
    typeof maxLineBytes === "number" ? bytes > maxLineBytes : !maxLineBytes(bytes);
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  /** Both ends of a line that is too long and not complete yet. */
  let ends: [Buffer, Buffer] | undefined;
  const take = (last: Buffer): string[] => {
    const line = pending.length === 0 ? last : Buffer.concat([...pending, last]);
    pending = [];
    pendingBytes = 0;
    if (large === undefined || line.length <= large.bytes) return [line.toString("utf8")];
    large.take(line);
    return [];
  };
  return (chunk) => {
    const lines: string[] = [];
    let rest = chunk;
    for (;;) {
      const end = rest.indexOf(NEWLINE);
      const length = end === -1 ? rest.length : end;
      if (ends === undefined && isTooLong(pendingBytes + length)) {
        const first = Buffer.concat([...pending.slice(0, 1), rest.subarray(0, length)]).subarray(
          0,
          END_BYTES,
        );
        const last = pending.at(-1)?.subarray(-END_BYTES) ?? Buffer.alloc(0);
        pending = [];
        pendingBytes = 0;
        if (onLongLine === undefined)
          throw new RangeError(`a line is longer than ${String(maxLineBytes)} bytes`);
        ends = [Buffer.from(first), Buffer.from(last)];
      }
      if (ends !== undefined) {
        const last = Buffer.concat([ends[1], rest.subarray(Math.max(0, length - END_BYTES), length)]);
        ends[1] = last.subarray(-END_BYTES);
        if (end === -1) return lines;
        onLongLine?.([ends[0].toString("utf8"), ends[1].toString("utf8")]);
        ends = undefined;
        rest = rest.subarray(end + 1);
        continue;
      }
      if (end === -1) break;
      lines.push(...take(rest.subarray(0, end)));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) {
      pending.push(rest);
      pendingBytes += rest.length;
    }
    return lines;
  };
}

/**
 * Finds the id of a JSON-RPC message of which only both ends are known: it is before or after the parameters or the result.
 */
export function messageIdIn([first, last]: [string, string]): number | string | undefined {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?(?:"method"\s*:\s*"[^"\\]{0,200}"\s*,\s*)?"id"\s*:\s*(\d{1,16}|"[^"\\]{0,200}")\s*,/.exec(
      first,
    ) ??
    /[}\]"]\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,16}|"[^"\\]{0,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(
      last,
    );
  return found === null ? undefined : (parseJson(found[1] ?? "") as number | string | undefined);
}

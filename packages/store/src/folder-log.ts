/** The beginning of a log, but for its last bit, which tells the order of bytes in its sums. */
const MAGIC = 0x37_7f_06_82;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Logs that followed each other in one file, at the most. The first number of their marks counts them. */
const MAX_AGE = 2 ** 20;

/**
 * Whether changes in a log of SQLite's can't be read: it has a frame that no log of this file has written, or one that was
 * changed before the last that ends a change. SQLite reads up to there and says nothing. What a crash leaves, a last
 * change that was not written as a whole, is not told from damage there.
 */
export function losesChanges(log: Buffer): boolean {
  if (log.length === 0) return false;
  if (log.length < HEADER_BYTES || (log.readUInt32BE() & ~1) !== MAGIC) return true;
  const isBigEndian = (log.readUInt32BE() & 1) === 1;
  let [one, other] = [0, 0];
  const add = (from: number, to: number): void => {
    for (let at = from; at < to; at += 8) {
      one = (one + other + (isBigEndian ? log.readUInt32BE(at) : log.readUInt32LE(at))) >>> 0;
      other = (other + one + (isBigEndian ? log.readUInt32BE(at + 4) : log.readUInt32LE(at + 4))) >>> 0;
    }
  };
  const isSum = (at: number): boolean => log.readUInt32BE(at) === one && log.readUInt32BE(at + 4) === other;
  add(0, 24);
  if (!isSum(24)) return true;
  const size = FRAME_HEADER_BYTES + log.readUInt32BE(8);
  let isRead = true;
  for (let at = HEADER_BYTES; at + size <= log.length; at += size) {
    const age = (log.readUInt32BE(16) - log.readUInt32BE(at + 8)) >>> 0;
    if (age > MAX_AGE) return true;
    const isOwn = age === 0 && log.readUInt32BE(20) === log.readUInt32BE(at + 12);
    const endsChange = log.readUInt32BE(at + 4) !== 0;
    if (!isRead && isOwn && endsChange) return true;
    if (!isRead) continue;
    add(at, at + 8);
    add(at + FRAME_HEADER_BYTES, at + size);
    isRead = isOwn && isSum(at + 16);
  }
  return false;
}

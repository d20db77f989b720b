/** The magic number of a log without its last bit, which gives the byte order of its checksums. */
const MAGIC = 0x37_7f_06_82;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Maximum number of logs that were written to one file in turn. The first number of their salts counts them. */
const MAX_AGE = 2 ** 20;

/**
 * Whether changes in a write-ahead log of SQLite are lost: it has a frame that no log of this file has written, or a
 * corrupt one before the last commit. SQLite silently stops reading there. Damage after the last commit can't be told
 * from an incomplete change that a crash leaves.
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

/** Messages other than answers that a server may send in a burst, and per second afterwards. */
const BURST = 5_000;
const PER_SECOND = 1_000;
/** Each multiple of this many bytes counts as one more message. */
const BYTES_A_MESSAGE = 4_096;
const MS_PER_SECOND = 1_000;

/** The weight of a message of this many bytes: a long one counts as several. */
export function weightOf(bytes: number): number {
  return 1 + bytes / BYTES_A_MESSAGE;
}

/**
 * Throttles what a server sends besides answers. Returns for how many milliseconds to stop reading, so that a flooding
 * server takes little of the host's time.
 */
export function createBrake(onWarning?: (message: string) => void): (messages: number) => number {
  let left = BURST;
  let at = performance.now();
  let isTold = false;
  return (messages) => {
    const now = performance.now();
    left = Math.min(BURST, left + ((now - at) * PER_SECOND) / MS_PER_SECOND) - messages;
    at = now;
    if (left >= 0) return 0;
    const warning = `It sends more than ${PER_SECOND} messages a second besides answers, so it is read more slowly.`;
    if (!isTold) onWarning?.(warning);
    isTold = true;
    return (-left / PER_SECOND) * MS_PER_SECOND;
  };
}

import type { LogEntry } from "./connection-types.ts";

/** Entries allowed for one server in a burst, and per second afterwards. */
const BURST = 200;
const PER_SECOND = 20;
/** Additional entries reserved for warnings about the server, so that its output can't crowd them out. */
const RESERVE = 20;
const MS_PER_SECOND = 1_000;

interface Allowance {
  left: number;
  /** `performance.now()` of the last entry. */
  at: number;
  dropped: number;
  timer: NodeJS.Timeout | undefined;
}

/** Limits the log entries of each server, and logs how many were dropped. */
export function limitLog(log: (entry: LogEntry) => void): (entry: LogEntry) => void {
  const allowances = new Map<string, Allowance>();

  const reportDropped = (server: string, allowance: Allowance): void => {
    clearTimeout(allowance.timer);
    allowance.timer = undefined;
    if (allowance.dropped === 0) return;
    const message = `${allowance.dropped} entries of server "${server}" were left out of the log: it sends too many.`;
    allowance.dropped = 0;
    log({ server, level: "warn", source: "client", message });
  };

  return (entry) => {
    const { server } = entry;
    const at = performance.now();
    const allowance = allowances.get(server) ?? { left: BURST, at, dropped: 0, timer: undefined };
    allowances.set(server, allowance);
    allowance.left = Math.min(BURST, allowance.left + ((at - allowance.at) / MS_PER_SECOND) * PER_SECOND);
    allowance.at = at;
    const isWarning = entry.source === "client" && entry.level === "warn";
    if (allowance.left < (isWarning ? 1 - RESERVE : 1)) {
      allowance.dropped += 1;
      allowance.timer ??= setTimeout(() => reportDropped(server, allowance), MS_PER_SECOND).unref();
      return;
    }
    allowance.left -= 1;
    log(entry);
  };
}

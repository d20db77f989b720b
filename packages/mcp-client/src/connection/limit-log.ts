import type { LogEntry } from "./connection-types.ts";

/** Entries allowed for one server in a burst, and per second afterwards. */
const BURST = 200;
const PER_SECOND = 20;
/** Additional entries reserved for warnings about the server, so that its output can't crowd them out. */
const RESERVE = 20;
const MS_PER_SECOND = 1_000;

/** Limits the log entries of each server, and logs how many were dropped. */
export function limitLog(log: (entry: LogEntry) => void): (entry: LogEntry) => void {
  const allowances = new Map<string, { left: number; at: number; dropped: number }>();

  return (entry) => {
    const { server } = entry;
    const at = performance.now();
    const allowance = allowances.get(server) ?? { left: BURST, at, dropped: 0 };
    allowances.set(server, allowance);
    const reportDropped = (): void => {
      const message = `${allowance.dropped} entries of server "${server}" were left out of the log: it sends too many.`;
      allowance.dropped = 0;
      log({ server, level: "warn", source: "client", message });
    };
    allowance.left = Math.min(BURST, allowance.left + ((at - allowance.at) / MS_PER_SECOND) * PER_SECOND);
    allowance.at = at;
    const isWarning = entry.source === "client" && entry.level === "warn";
    if (allowance.left < (isWarning ? 1 - RESERVE : 1)) {
      if (allowance.dropped === 0) setTimeout(reportDropped, MS_PER_SECOND).unref();
      allowance.dropped += 1;
      return;
    }
    allowance.left -= 1;
    log(entry);
  };
}

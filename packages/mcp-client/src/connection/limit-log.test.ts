import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LogEntry } from "./connection-types.ts";
import { limitLog } from "./limit-log.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("lets a burst through, then few a second, and says how many were left out", () => {
  const entries: LogEntry[] = [];
  const log = limitLog((entry) => void entries.push(entry));
  const send = (server: string, count: number): void => {
    for (let at = 0; at < count; at += 1)
      log({ server, level: "info", source: "protocol", message: `${at}` });
  };
  send("noisy", 100_000);
  send("quiet", 5);
  // Entries that a server sends can't crowd out the warnings about it.
  log({ server: "noisy", level: "warn", source: "client", message: "slowed" });
  expect(entries).toHaveLength(206);
  vi.advanceTimersByTime(1_000);
  expect(entries.at(-1)).toEqual({
    server: "noisy",
    level: "warn",
    source: "client",
    message: `99800 entries of server "noisy" were left out of the log: it sends too many.`,
  });
  send("noisy", 100);
  expect(entries).toHaveLength(226);
  vi.advanceTimersByTime(60_000);
  expect(entries).toHaveLength(227);
  send("noisy", 200);
  expect(entries).toHaveLength(427);
});

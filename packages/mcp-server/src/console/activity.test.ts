import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Activity } from "./activity.ts";

beforeEach(() => vi.useFakeTimers({ now: new Date("2026-01-01T12:00:30Z") }));
afterEach(() => vi.useRealTimers());

it("Activity counts the runs of each minute of the last hour", () => {
  const activity = new Activity();
  for (const ms of [10, 30, 20]) activity.count({ ms, hasFailed: ms === 30, tokensSaved: 5 });
  vi.setSystemTime(new Date("2026-01-01T12:02:00Z"));
  activity.count({ ms: 7, hasFailed: false, tokensSaved: 0 });
  const minutes = activity.lastHour();
  expect(minutes).toHaveLength(60);
  expect(minutes.slice(-3)).toEqual([
    {
      at: "2026-01-01T12:00:00.000Z",
      runs: 3,
      unsuccessful: 1,
      tokensSaved: 15,
      p50Ms: 20,
      p95Ms: 20,
      memoryMb: expect.any(Number),
    },
    { at: "2026-01-01T12:01:00.000Z", runs: 0, unsuccessful: 0, tokensSaved: 0 },
    expect.objectContaining({ runs: 1, p50Ms: 7 }),
  ]);
  vi.setSystemTime(new Date("2026-01-01T13:01:59Z"));
  expect(activity.lastHour().map(({ runs }) => runs)).toEqual([1, ...Array.from({ length: 59 }, () => 0)]);
  vi.setSystemTime(new Date("2026-01-01T13:02:00Z"));
  expect(activity.lastHour().every(({ runs }) => runs === 0)).toBe(true);
});

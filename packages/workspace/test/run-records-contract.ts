import type { RunRecord, RunRecords, Store } from "@cem/core";
import { afterEach, describe, expect, it } from "vitest";
import { createRunRecords } from "../src/records/run-records.ts";
import { record } from "./run-record.ts";

export const BOUNDS = { count: 1_000, bytes: 1_000_000, ageMs: 86_400_000 };

/** A place that no other test has, which can be opened more than once. */
export type OpenPlace = () => () => Promise<Store>;

export const add = (records: RunRecords, ...all: RunRecord[]): void => {
  for (const one of all) records.add(async () => one);
};
export const ids = async (records: RunRecords, filter = {}): Promise<string[]> =>
  (await records.list(filter)).map(({ id }) => id);

/** The contract of run records, in every store. */
export function describeRunRecords(name: string, folder: OpenPlace): void {
  const opened: RunRecords[] = [];
  afterEach(async () => {
    for (const records of opened.splice(0)) await records.close();
  });
  const recordsIn = (open: () => Promise<Store>, bounds = BOUNDS): RunRecords => {
    const records = createRunRecords({ open, bounds });
    opened.push(records);
    return records;
  };

  describe(`records of runs in ${name}`, () => {
    it("are there in another process's records, those that began last first", async () => {
      const place = folder();
      const [one, other] = [recordsIn(place), recordsIn(place)];
      add(
        one,
        record("a", { startedAt: "2999-01-01T00:00:00.000Z" }),
        record("c", { startedAt: "2999-01-03T00:00:00.000Z" }),
      );
      add(other, record("b", { startedAt: "2999-01-02T00:00:00.000Z" }));
      await Promise.all([one.flush(), other.flush()]);
      expect(await ids(one)).toEqual(["c", "b", "a"]);
      expect(await ids(recordsIn(place))).toEqual(["c", "b", "a"]);
      expect(await other.read("a")).toMatchObject({ code: `return "a";` });
      expect(await other.read("last")).toMatchObject({ id: "c" });
      await expect(other.read("d")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    });

    it("are found by status, time, text and owner", async () => {
      const records = recordsIn(folder());
      const error = { code: "TOOL_FAILED", message: "The pump is broken" };
      const input = "// A long program.\n".repeat(200);
      add(
        records,
        record("old", { startedAt: new Date(Date.now() - 3_600_000).toISOString() }),
        record("bad", { input, code: input, status: "error", error, owner: "o1" }),
        record("call", {
          input,
          code: input,
          owner: "o2",
          calls: [{ server: "crm", tool: "find", ms: 1, ok: true }],
        }),
      );
      expect(await ids(records, { status: "error" })).toEqual(["bad"]);
      expect(await ids(records, { since: new Date(Date.now() - 60_000) })).not.toContain("old");
      expect(await ids(records, { text: "PUMP" })).toEqual(["bad"]);
      expect(await ids(records, { text: "crm.find" })).toEqual(["call"]);
      expect(await ids(records, { owner: "o2" })).toEqual(["call"]);
      expect(await ids(records, { limit: 1 })).toHaveLength(1);
      await expect(records.read("bad", "o2")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    });

    it("stay within their count, size and age", async () => {
      const place = folder();
      const records = recordsIn(place, { ...BOUNDS, count: 100 });
      for (let batch = 0; batch < 5; batch += 1) {
        add(records, ...Array.from({ length: 100 }, (_, at) => record(`${batch}-${at}`)));
        await records.flush();
      }
      expect(await ids(records, { limit: 1_000 })).toHaveLength(100);
      const everything = await ids(recordsIn(place), { limit: 10_000 });
      // Records beyond the bounds go after some more records.
      expect(everything.length).toBeLessThanOrEqual(200);
      expect(everything).toContain("4-99");

      const big = folder();
      const small = recordsIn(big, { ...BOUNDS, bytes: 6_000_000 });
      for (let batch = 0; batch < 4; batch += 1) {
        add(small, record(`${batch}`, { output: "x".repeat(4_300_000) }));
        await small.flush();
      }
      expect(await ids(recordsIn(big))).not.toContain("0");

      const aged = recordsIn(place, { ...BOUNDS, ageMs: 0 });
      expect(await ids(aged)).toEqual([]);
    });
  });
}

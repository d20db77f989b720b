import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { RunRecord, RunRecords } from "@cem/core";
import { createFolderStore } from "@cem/store";
import { afterEach, describe, expect, it } from "vitest";
import { createRunRecords } from "./run-records.ts";

const BOUNDS = { count: 1_000, bytes: 1_000_000, ageMs: 86_400_000 };
const opened: RunRecords[] = [];
afterEach(async () => {
  for (const records of opened.splice(0)) await records.close();
});

function recordsIn(folder: string, more: Partial<Parameters<typeof createRunRecords>[0]> = {}): RunRecords {
  const records = createRunRecords({
    open: async () => createFolderStore({ folder }),
    bounds: BOUNDS,
    ...more,
  });
  opened.push(records);
  return records;
}

const folder = (): string => mkdtempSync(path.join(os.tmpdir(), "cem-records-"));

function record(id: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    id,
    kind: "code",
    startedAt: new Date().toISOString(),
    ms: 1,
    status: "success",
    input: `return "${id}";`,
    code: `return "${id}";`,
    codeIsWhole: true,
    origin: "given",
    error: null,
    output: "",
    outputIsCut: false,
    calls: [],
    callsLeftOut: 0,
    isolation: null,
    timings: {},
    contextTokens: { direct: 0, used: 0, saved: 0 },
    notes: [],
    ...more,
  };
}

const add = (records: RunRecords, ...all: RunRecord[]): void => {
  for (const one of all) records.add(async () => one);
};
const ids = async (records: RunRecords, filter = {}): Promise<string[]> =>
  (await records.list(filter)).map(({ id }) => id);

describe("records of runs", () => {
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
    add(
      records,
      record("old", { startedAt: new Date(Date.now() - 3_600_000).toISOString() }),
      record("bad", { status: "error", error, owner: "o1" }),
      record("call", { owner: "o2", calls: [{ server: "crm", tool: "find", ms: 1, ok: true }] }),
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
    const records = recordsIn(place, { bounds: { ...BOUNDS, count: 100 } });
    for (let batch = 0; batch < 5; batch += 1) {
      add(records, ...Array.from({ length: 100 }, (_, at) => record(`${batch}-${at}`)));
      await records.flush();
    }
    expect(await ids(records, { limit: 1_000 })).toHaveLength(100);
    const everything = await ids(recordsIn(place), { limit: 10_000 });
    // A segment goes as a whole, when the next one begins.
    expect(everything.length).toBeLessThanOrEqual(200);
    expect(everything).toContain("4-99");

    const big = folder();
    const small = recordsIn(big, { bounds: { ...BOUNDS, bytes: 6_000_000 } });
    for (let batch = 0; batch < 4; batch += 1) {
      add(small, record(`${batch}`, { output: "x".repeat(4_300_000) }));
      await small.flush();
    }
    expect(await ids(recordsIn(big))).not.toContain("0");

    const aged = recordsIn(place, { bounds: { ...BOUNDS, ageMs: 0 } });
    expect(await ids(aged)).toEqual([]);
  });

  it("are passed over where they can't be read", async () => {
    const place = folder();
    const store = createFolderStore({ folder: place });
    const records = recordsIn(place);
    add(records, record("a"));
    await records.flush();
    const [[, name = ""] = []] = await store.list(["segments"]);
    await store.append(["records", name], [Buffer.from("{"), Buffer.from(`{"id":1}`)]);
    add(records, record("b"));
    expect((await ids(records)).toSorted()).toEqual(["a", "b"]);
    await store.close();
  });

  it("report once what can't be written, and lose no other's time", async () => {
    const problems: unknown[] = [];
    const records = createRunRecords({
      open: () => Promise.reject(new Error("no store")),
      bounds: BOUNDS,
      onProblem: (error) => problems.push(error),
    });
    add(records, record("a"));
    await records.flush();
    expect(problems).toMatchObject([{ message: "no store" }]);
    await records.close();
  });

  it("are not made for one who is gone", async () => {
    const records = recordsIn(folder(), { isThere: async () => false });
    add(records, record("a"));
    expect(await ids(records)).toEqual([]);
  });
});

import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { CemError, type RunRecords } from "@cem/core";
import { createFolderStore } from "@cem/store";
import { afterEach, describe, expect, it } from "vitest";
import { record } from "../../test/run-record.ts";
import { add, BOUNDS, describeRunRecords, ids } from "../../test/run-records-contract.ts";
import { createRunRecords } from "./run-records.ts";

const WRITER = fileURLToPath(new URL("../../test/record-writer.ts", import.meta.url));
const KILLS = process.env["CEM_TESTS"] === "all" ? 200 : 2;
/** A folder that grew with each kill would take ever longer to be read. */
const KILLS_OF_ONE_FOLDER = 20;
const opened: RunRecords[] = [];
afterEach(async () => {
  for (const records of opened.splice(0)) await records.close();
});

function recordsIn(folder: string, more: Partial<Parameters<typeof createRunRecords>[0]> = {}): RunRecords {
  const records = createRunRecords({
    open: async () => createFolderStore({ folder, durability: "process" }),
    bounds: BOUNDS,
    ...more,
  });
  opened.push(records);
  return records;
}

const folder = (): string => mkdtempSync(path.join(os.tmpdir(), "cem-records-"));

describeRunRecords("a folder", () => {
  const place = folder();
  return async () => createFolderStore({ folder: place, durability: "process" });
});

describe("records of runs", () => {
  it("are passed over where they can't be read", async () => {
    const place = folder();
    const store = createFolderStore({ folder: place });
    const records = recordsIn(place);
    add(records, record("a"));
    await records.flush();
    for (const text of ["{", `{"id":1}`]) await store.write(["records", "0", text, "1"], Buffer.from(text));
    add(records, record("b"));
    expect((await ids(records)).toSorted()).toEqual(["a", "b"]);
    await store.close();
  });

  it("of older versions have a whole input, where it is short", async () => {
    const place = folder();
    const records = recordsIn(place);
    // Written as JSON, which has no undefined fields.
    const older = { inputIsWhole: undefined } as unknown as { inputIsWhole: boolean };
    add(records, record("short", older), record("cut", { ...older, input: "x".repeat(8 * 1024) }));
    await records.flush();
    expect(await records.read("short")).toMatchObject({ inputIsWhole: true });
    expect(await records.read("cut")).toMatchObject({ inputIsWhole: false });
  });

  it("are written once their store is back, each once, and every loss of it is told", async () => {
    const place = folder();
    const store = createFolderStore({ folder: place });
    const away = new CemError("STORE_UNAVAILABLE", "The store is away.");
    const told: [unknown, boolean][] = [];
    let isAway = true;
    let taken = 0;
    const records = recordsIn(place, {
      // The second write of a batch fails, the others are taken.
      open: async () => ({
        ...store,
        location: place,
        write: async (...given) =>
          isAway && (taken += 1) % 3 === 2 ? Promise.reject(away) : store.write(...given),
      }),
      onProblem: (...problem) => told.push(problem),
    });
    for (const [id, outage] of ["a", "b"].entries()) {
      isAway = true;
      for (const part of ["1", "2", "3"]) add(records, record(`${outage}${part}`));
      await records.flush();
      await records.flush();
      isAway = false;
      await records.flush();
      expect(told.slice(id)).toEqual([[away, id > 0]]);
    }
    expect((await ids(records)).toSorted()).toEqual(["a1", "a2", "a3", "b1", "b2", "b3"]);
    expect(await store.list(["records"])).toHaveLength(6);
  });

  it("expire, also where nobody writes or reads any more", async () => {
    const place = folder();
    const records = recordsIn(place, { bounds: { ...BOUNDS, ageMs: 50 } });
    add(records, record("a"));
    await records.flush();
    const store = createFolderStore({ folder: place });
    await expect.poll(() => store.list([])).toEqual([]);
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

  it("are left out where too many wait, and it is told how many", async () => {
    const problems: unknown[] = [];
    const [opening, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const place = folder();
    const records = recordsIn(place, {
      open: async () => {
        opening.resolve();
        await gate.promise;
        return createFolderStore({ folder: place });
      },
      onProblem: (error) => problems.push(error),
    });
    // It waits for a store that does not answer, while others come.
    add(records, record("first"));
    const written = records.flush();
    await opening.promise;
    add(records, ...Array.from({ length: 3_000 }, (_, at) => record(`${at}`)));
    gate.resolve();
    await Promise.all([written, records.flush()]);
    expect(problems).toMatchObject([{ message: "2001 runs came too fast to be recorded" }]);
    const kept = await ids(records, { limit: 10_000 });
    expect(kept).toHaveLength(1_000);
    add(records, record("later"));
    expect(await ids(records)).toContain("later");
    expect(problems).toHaveLength(1);
  });

  it("keep the others of a batch where one can't be made", async () => {
    const problems: unknown[] = [];
    const records = recordsIn(folder(), { onProblem: (error) => problems.push(error) });
    add(records, record("a"));
    records.add(() => Promise.reject(new Error("not made")));
    add(records, record("b"));
    expect((await ids(records)).toSorted()).toEqual(["a", "b"]);
    expect(problems).toMatchObject([{ message: "not made" }]);
  });

  it(
    "are whole after a kill at any moment, with all that were written",
    { timeout: KILLS * 10_000 + 120_000 },
    async () => {
      let place = "";
      let before = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const round = kill % KILLS_OF_ONE_FOLDER;
        if (round === 0) [place, before] = [folder(), 0];
        const told = await killWriter(place, round);
        // As many as the writer keeps.
        const records = recordsIn(place, { bounds: { ...BOUNDS, count: 1_000_000, bytes: 1_000_000_000 } });
        const all = await records.list({ limit: 1_000_000 });
        expect(all.length).toBeGreaterThanOrEqual(before + told);
        const { input } = await records.read(all.at(-1)?.id ?? "");
        expect(input).toHaveLength(2_000);
        before = all.length;
        await records.close();
        const database = new DatabaseSync(path.join(place, "store.db"));
        expect(database.prepare("pragma integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
        database.close();
      }
    },
  );
});

/** Has a process write records and kills it. Resolves with how many it knew to be written. */
async function killWriter(place: string, round: number): Promise<number> {
  const writer = spawn(process.execPath, ["--conditions=@cem/source", WRITER, place, `w${round}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => writer.once("exit", resolve));
  let told = 0;
  const killAt = 50 + round * 37;
  for await (const lines of writer.stdout) {
    const last = String(lines).trim().split("\n").at(-1) ?? "";
    told = Math.max(told, Number(last));
    if (told >= killAt) writer.kill("SIGKILL");
  }
  await gone;
  return told;
}

import { array, assert, asyncProperty, boolean, constantFrom, nat, record } from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { faultyStore } from "../../test/sync/faulty-store.ts";
import { Machines } from "../../test/sync/machines.ts";
import type { Machine } from "../../test/sync/machines.ts";
import { createStoreBlobs } from "./blobs.ts";
import type { BlobStore } from "./blobs.ts";

const RUNS = process.env["CEM_TESTS"] === "all" ? 500 : 8;
const FILES = ["a.txt", "b.txt", "data", "data/in.txt", "data/deep/in.txt"];

const step = record({
  machine: nat(2),
  kind: constantFrom("write", "write", "new", "delete", "run", "run", "restart", "together"),
  file: constantFrom(...FILES),
  /** One call in so many fails. */
  faults: constantFrom(0, 0, 3, 8, 20),
  seed: nat(0xff_ff),
});

/** The texts that were written, and not replaced or deleted by somebody who had them. */
class Written {
  readonly texts = new Set<string>();
  #count = 0;

  next(): string {
    this.#count += 1;
    return `text ${this.#count}`;
  }

  /** A person on this machine replaces or deletes what is there. */
  async change(machine: Machine, file: string, text?: string): Promise<void> {
    const files = await machine.files().catch(() => ({}));
    for (const [name, replaced] of Object.entries(files)) {
      const isReplaced = name === file || name.startsWith(`${file}/`) || file.startsWith(`${name}/`);
      if (!isReplaced) continue;
      this.texts.delete(replaced);
      await machine.remove(name);
    }
    await machine.remove(file);
    if (text === undefined) return;
    this.texts.add(text);
    await machine.write(file, text);
  }
}

it("loses nothing to faults, and has it once", async () => {
  const property = asyncProperty(
    array(step, { minLength: 5, maxLength: 40 }),
    boolean(),
    async (steps, isFaulty) => {
      const machines = await Machines.open();
      try {
        let fails = (): boolean => false;
        let isCutOff = false;
        const store = faultyStore(machines.scope(), () => fails());
        const all = ["one", "two", "three"].map((name) =>
          machines.machine(name, { store, garbageRestMs: 1 }),
        );
        const written = new Written();
        for (const machine of all) await machine.sync.fetch();
        for (const { machine: at, kind, file, faults, seed } of steps) {
          const machine = all[at] as Machine;
          let random = seed;
          fails = () => {
            random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
            const isCut = isFaulty && faults > 0 && (random >> 8) % faults === 0;
            isCutOff ||= isCut;
            return isCut;
          };
          const ignoreFault = (): void => {
            // As a process that was killed there.
            machine.restart();
          };
          if (kind === "write") await written.change(machine, file, written.next());
          else if (kind === "new") {
            const text = written.next();
            await written.change(machine, `${text}.txt`, text);
          } else if (kind === "delete") await written.change(machine, file);
          else if (kind === "restart") machine.restart();
          else if (kind === "run")
            await machine.sync
              .fetch()
              .then(() => machine.sync.put(), ignoreFault)
              .catch(ignoreFault);
          else await Promise.all(all.map((one) => one.sync.put().catch(() => one.restart())));
          fails = () => false;
        }
        for (const machine of [...all, ...all]) {
          await machine.sync.fetch();
          await machine.sync.put();
          await machine.sync.close();
        }
        const last = await all[0]?.files();
        for (const machine of all) expect(await machine.files()).toEqual(last);
        const texts = Object.values(last ?? {});
        expect([...written.texts].filter((text) => !texts.includes(text))).toEqual([]);
        // Cut off at the wrong moment, a machine may keep what somebody had replaced; without that only what was moved aside
        // meanwhile is kept. Never a text twice.
        const extra = Object.entries(last ?? {}).filter(
          ([name, text]) => !written.texts.has(text) && !name.includes(".conflict-"),
        );
        expect(isCutOff ? [] : extra).toEqual([]);
        expect(texts).toHaveLength(new Set(texts).size);
      } finally {
        await machines.close();
      }
    },
  );
  await assert(property, { numRuns: RUNS, endOnFailure: true });
}, 3_600_000);

it("does not bring a file back that another machine deleted after the one that wrote it had begun anew", async () => {
  const machines = await Machines.open();
  try {
    const store = machines.scope();
    const [one, two] = ["one", "two"].map((name) => machines.machine(name, { store })) as [Machine, Machine];
    await one.sync.fetch();
    await one.write("a.txt", "text");
    await one.sync.put();
    one.restart();
    await two.sync.fetch();
    await two.remove("a.txt");
    await two.sync.put();
    await one.sync.fetch();
    await one.sync.put();
    await two.sync.fetch();
    expect([await one.files(), await two.files()]).toEqual([{}, {}]);
  } finally {
    await machines.close();
  }
});

describe("storage that does not answer", () => {
  /** Two machines, of which the second waits for the first piece that it reads, and when it does. */
  async function stalling(): Promise<{ two: Machine; stalled: Promise<void> }> {
    const machines = await Machines.open();
    onTestFinished(() => machines.close());
    const pieces = createStoreBlobs(machines.scope());
    const { promise: stalled, resolve } = Promise.withResolvers<void>();
    let isFirst = true;
    const read: BlobStore["read"] = async (name) => {
      if (!isFirst) return pieces.read(name);
      isFirst = false;
      resolve();
      return new Promise(() => {});
    };
    const [one, two] = [machines.machine("one"), machines.machine("two", { blobs: { ...pieces, read } })];
    await one.sync.during(() => one.write("a.txt", "a"));
    return { two, stalled };
  }

  it("lets runs end that wait for it, and others go on once it answers", async () => {
    const { two, stalled } = await stalling();
    const [ended, waiting] = [new AbortController(), new AbortController()];
    const runs = [ended, waiting, new AbortController()].map(async ({ signal }) => {
      const options = { logsFollow: false, signal };
      return two.sync.during(() => two.files(), options).catch((error: unknown) => error);
    });
    await stalled;
    waiting.abort("not any more");
    expect(await runs[1]).toBe("not any more");
    ended.abort("ended");
    expect([await runs[0], await runs[2]]).toEqual(["ended", { result: { "a.txt": "a" }, remarks: [] }]);
  });

  it("does not hold the end of an aborted run for long, nor that of the process, where it takes nothing", async () => {
    const machines = await Machines.open();
    onTestFinished(() => machines.close());
    const pieces = createStoreBlobs(machines.scope());
    const sent = Promise.withResolvers<void>();
    const write: BlobStore["write"] = () => {
      sent.resolve();
      return new Promise(() => {});
    };
    const one = machines.machine("one", { blobs: { ...pieces, write } });
    const cancelling = new AbortController();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const run = one.sync.during(() => one.write("a.txt", "a"), { signal: cancelling.signal });
    await sent.promise;
    cancelling.abort();
    vi.advanceTimersByTime(3_000);
    expect((await run).remarks).toEqual([expect.stringMatching(/is kept on this machine only/u)]);
    const closed = one.sync.close();
    vi.advanceTimersByTime(3_000);
    await closed;
    // It is shared as soon as the storage takes it.
    vi.useRealTimers();
    const later = machines.machine("one", { blobs: pieces });
    await later.sync.fetch();
    const two = machines.machine("two");
    await two.sync.fetch();
    expect(await two.files()).toEqual({ "a.txt": "a" });
  });

  it("is waited for by an aborted run while it answers, and gets later what it did not take", async () => {
    const machines = await Machines.open();
    onTestFinished(() => machines.close());
    const pieces = createStoreBlobs(machines.scope());
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const answers = Promise.withResolvers<void>();
    let writes = 0;
    const write: BlobStore["write"] = async (name, bytes) => {
      writes += 1;
      if (writes === 1) {
        first.resolve();
        await answers.promise;
      } else if (writes === 2) {
        second.resolve();
        await new Promise(() => {});
      }
      await pieces.write(name, bytes);
    };
    const one = machines.machine("one", { blobs: { ...pieces, write } });
    const cancelling = new AbortController();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const run = one.sync.during(() => one.write("a.txt", "a"), { signal: cancelling.signal });
    await first.promise;
    cancelling.abort();
    vi.advanceTimersByTime(2_000);
    answers.resolve();
    await second.promise;
    vi.advanceTimersByTime(2_000);
    expect(await Promise.race([run, new Promise((resolve) => setImmediate(resolve, "waits"))])).toBe("waits");
    vi.advanceTimersByTime(1_000);
    expect((await run).remarks).toEqual([expect.stringMatching(/is kept on this machine only/u)]);
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    const two = machines.machine("two");
    await vi.waitFor(async () => {
      await two.sync.fetch();
      expect(await two.files()).toEqual({ "a.txt": "a" });
    });
  });

  it("does not hold the end of the process for long", async () => {
    const { two, stalled } = await stalling();
    const put = two.sync.put().catch((error: unknown) => error);
    await stalled;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const closed = two.sync.close();
    vi.advanceTimersByTime(3_000);
    await closed;
    expect(await put).toMatchObject({ code: "FILES_UNAVAILABLE" });
  });
});

import { offload, useWorkThreads } from "@cem/core";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { asOwner, currentOwner, createWorkThreads, WORK_THREAD_LIMITS } from "./work-threads.ts";
import type { WorkThreadLimits } from "./work-threads.ts";

const module = new URL("../../fixtures/work.ts", import.meta.url);
const open: ReturnType<typeof createWorkThreads>[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((threads) => threads.close()));
});

function start(limits: Partial<WorkThreadLimits> = {}): ReturnType<typeof createWorkThreads> {
  const threads = createWorkThreads(() => currentOwner() ?? "", {
    ...WORK_THREAD_LIMITS,
    threads: 2,
    timeoutMs: 60_000,
    ...limits,
  });
  open.push(threads);
  return threads;
}

/** Work that never ends, and when it has begun. */
function endless(threads: ReturnType<typeof createWorkThreads>, owner: string, timeoutMs?: number) {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const stop = new AbortController();
  const { signal } = stop;
  const work = { module, name: "spin", args: [flag], signal, timeoutMs };
  const ended = asOwner(owner, () => threads.run(work)).catch((error: unknown) => error);
  const begun = async (): Promise<void> => {
    await Atomics.waitAsync(flag, 0, 0).value;
  };
  return { ended, begun, stop: (reason: unknown) => stop.abort(reason), isBegun: () => flag[0] === 1 };
}

describe("createWorkThreads", () => {
  it("gives back what the work returns, and what it throws", async () => {
    const threads = start();
    const value = { list: [1, "two", null], nested: { at: 3n } };
    expect(await threads.run({ module, name: "echo", args: [value] })).toEqual(value);
    await expect(threads.run({ module, name: "fail", args: [] })).rejects.toMatchObject({
      code: "UNEXPECTED",
      message: "failed on purpose",
    });
  });

  it("ends work with its signal, while it is at it and while it waits", async () => {
    const threads = start();
    const first = endless(threads, "ada");
    await first.begun();
    const waiting = endless(threads, "ada");
    waiting.stop("no longer wanted");
    expect([await waiting.ended, waiting.isBegun()]).toEqual(["no longer wanted", false]);
    first.stop("cancelled");
    expect(await first.ended).toBe("cancelled");
    expect(await asOwner("ada", () => threads.run({ module, name: "echo", args: [1] }))).toBe(1);
  });

  it("ends work that takes longer than its time, or more memory than a thread may have", async () => {
    const threads = start({ memoryMb: 64 });
    const tooLarge = { code: "INPUT_TOO_LARGE" };
    expect(await endless(threads, "ada", 1_000).ended).toMatchObject({
      ...tooLarge,
      message: expect.stringContaining("took more than 1 s"),
    });
    await expect(threads.run({ module, name: "hoard", args: [] })).rejects.toMatchObject({
      ...tooLarge,
      message: expect.stringContaining("needed too much memory"),
    });
    expect(await threads.run({ module, name: "echo", args: [2] })).toBe(2);
  });

  it("leaves a thread to others, however much one owner has", async () => {
    const threads = start();
    const all = Array.from({ length: 5 }, () => endless(threads, "ada"));
    await all[0]?.begun();
    expect(await asOwner("bob", () => threads.run({ module, name: "echo", args: ["bob"] }))).toBe("bob");
    expect(all.map(({ isBegun }) => isBegun())).toEqual([true, false, false, false, false]);
    for (const { stop } of all) stop("over");
    await Promise.all(all.map(({ ended }) => ended));
  });

  it("takes the work of owners in turn", async () => {
    const threads = start();
    const order: string[] = [];
    const blocker = endless(threads, "eve");
    const hog = endless(threads, "ada");
    await Promise.all([blocker.begun(), hog.begun()]);
    const queue = ["ada", "ada", "ada", "bob"].map((owner, at) =>
      asOwner(owner, () => threads.run({ module, name: "echo", args: [at] })).then(() => order.push(owner)),
    );
    hog.stop("over");
    await Promise.all([hog.ended, ...queue]);
    expect(order.indexOf("bob")).toBeLessThan(2);
    blocker.stop("over");
    await blocker.ended;
  });

  it("ends all work when it is closed", async () => {
    const threads = start();
    const [first, second] = [endless(threads, "ada"), endless(threads, "ada")];
    await first.begun();
    await threads.close();
    const closing = { code: "SERVER_CLOSING" };
    expect([await first.ended, await second.ended]).toMatchObject([closing, closing]);
    await expect(threads.run({ module, name: "echo", args: [] })).rejects.toMatchObject(closing);
  });
});

describe("offload", () => {
  it("works here without threads, and with what can't be cloned", async () => {
    const describeWork = (args: unknown[]) => () => ({ module, name: "echo", args });
    expect(await offload(describeWork([1]), () => "here")).toBe("here");
    onTestFinished(useWorkThreads(start()));
    expect(await offload(describeWork([1]), () => "here")).toBe(1);
    expect(await offload(describeWork([() => 1]), () => "here")).toBe("here");
  });
});

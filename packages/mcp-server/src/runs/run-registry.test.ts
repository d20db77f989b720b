import { setTimeout as delay } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { Agent, ExecuteOptions, TaskResult } from "@cem/core";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openMetrics } from "../http/metrics.ts";
import {
  MAX_ACTIVE_RUNS_PER_CLIENT,
  MAX_ASKING_RUNS_PER_CLIENT,
  MAX_KEPT_RUNS_PER_CLIENT,
} from "../limits.ts";
import { RunRegistry } from "./run-registry.ts";
import type { RunRequest, RunView } from "./run.ts";

const finished = { status: "success" } as TaskResult;
const signal = new AbortController().signal;
const waiter = { owner: "", signal };

function request(
  begin: (options: ExecuteOptions) => Promise<TaskResult>,
  owner = "",
  quotaOwner?: string,
): RunRequest {
  return { kind: "code", owner, quotaOwner, signal, begin };
}

/** Runs until it is cancelled, and then ends as if nothing had happened. */
const forever = ({ signal: ended }: ExecuteOptions): Promise<TaskResult> =>
  new Promise((resolve) => ended?.addEventListener("abort", () => resolve(finished)));
const idOf = (view: RunView | undefined): string => (view as { id: string }).id;

describe("RunRegistry", () => {
  let runs = new RunRegistry({ yieldAfterMs: 10 });

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    runs = new RunRegistry({ yieldAfterMs: 10 });
  });
  afterEach(async () => {
    await runs.close();
    vi.useRealTimers();
  });

  describe("start", () => {
    it("resolves with the result of a run that ends in time", async () => {
      expect(await runs.start(request(async () => finished))).toEqual({
        state: "finished",
        result: finished,
      });
      expect([runs.active, runs.kept]).toEqual([0, 0]);
    });

    it("resolves with the id and the output so far of a run that does not", async () => {
      const view = await runs.start(
        request((options) => {
          for (const text of ["one\n", "two\n"]) {
            options.onEvent?.({ type: "output", chunk: { stream: "stdout", text } });
          }
          return forever(options);
        }),
      );
      expect(view).toEqual({
        state: "running",
        id: expect.stringMatching(/^run-[\w-]{12}$/),
        output: "one\ntwo\n",
        since: expect.any(Date),
        waitsFor: undefined,
      });
      expect([runs.active, runs.kept]).toEqual([1, 1]);
    });

    it("rejects with what the agent threw", async () => {
      const failed = runs.start(request(() => Promise.reject(new Error("broken"))));
      await expect(failed).rejects.toThrow("broken");
      expect([runs.active, runs.kept]).toEqual([0, 0]);
    });

    it("rejects with the calls that were made, and counts what the agent threw", async () => {
      const metrics = openMetrics();
      onTestFinished(() => metrics.close());
      const call = { server: "crm", tool: "refund", ms: 1, ok: true };
      const begin = async ({ onEvent }: ExecuteOptions): Promise<TaskResult> => {
        onEvent?.({ type: "tool-called", call });
        throw new CemError("STORE_UNAVAILABLE", "The store is away.");
      };
      await expect(runs.start(request(begin))).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        calls: [call],
        details: { isSent: true },
      });
      expect(await metrics.registry.metrics()).toContain('cem_refusals_total{code="STORE_UNAVAILABLE"} 1');
    });

    it("does not say that a call was made that was refused", async () => {
      const call = { server: "crm", tool: "refund", ms: 1, ok: false };
      const begin = async ({ onEvent }: ExecuteOptions): Promise<TaskResult> => {
        onEvent?.({ type: "tool-called", call });
        throw new CemError("STORE_UNAVAILABLE", "The store is away.");
      };
      await expect(runs.start(request(begin))).rejects.toSatisfy(({ details }) => !("isSent" in details));
    });

    it("ends a run whose call is cancelled, before and after it began", async () => {
      const controller = new AbortController();
      let reason: unknown;
      const begin = (options: ExecuteOptions): Promise<TaskResult> => {
        options.signal?.addEventListener("abort", () => (reason = options.signal?.reason));
        return forever(options);
      };
      const call = runs.start({ ...request(begin), signal: controller.signal });
      controller.abort("the client cancelled");
      expect(await call).toEqual({ state: "finished", result: finished });
      expect([reason, runs.active]).toEqual(["the client cancelled", 0]);
      await expect(
        runs.start({ ...request(forever), signal: AbortSignal.abort(new Error("cancelled")) }),
      ).rejects.toThrow("cancelled");
      expect(runs.active).toBe(0);
    });

    it("does not end a run that outlasted its call when the call's signal aborts", async () => {
      const controller = new AbortController();
      await runs.start({ ...request(forever), signal: controller.signal });
      controller.abort();
      await delay(0);
      expect(runs.active).toBe(1);
    });

    it("refuses beyond its capacity, with the numbers", async () => {
      const all = Array.from({ length: 1_000 }, () => runs.start(request(forever)));
      await expect(runs.start(request(forever))).rejects.toMatchObject({
        code: "SERVER_BUSY",
        details: { runs: 1_000, maxRuns: 1_000 },
      });
      await runs.close();
      await Promise.all(all);
    });

    it("keeps 64 runs, finished ones no longer than there is room: beyond them a call waits for its run", async () => {
      const last = Promise.withResolvers<TaskResult>();
      const first = Promise.withResolvers<TaskResult>();
      const views = await Promise.all([
        runs.start(request(() => first.promise)),
        ...Array.from({ length: 63 }, () => runs.start(request(forever))),
      ]);
      let waited: RunView | undefined;
      const waits = runs.start(request(() => last.promise)).then((view) => (waited = view));
      // This call began later and yields after the same time.
      await runs.wait(idOf(views[1]), waiter);
      expect([waited, runs.kept]).toEqual([undefined, 64]);
      last.resolve(finished);
      expect(await waits).toEqual({ state: "finished", result: finished });
      first.resolve(finished);
      const newer = await runs.start(request(forever));
      expect([newer.state, runs.kept]).toEqual(["running", 64]);
      await expect(runs.wait(idOf(views[0]), waiter)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    });
  });

  describe("the kept runs of one client", () => {
    const resultOf = (characters: number): TaskResult =>
      ({ status: "success", value: "x".repeat(characters) }) as unknown as TaskResult;
    /** Starts a run that outlasts its call and ends then. */
    const keep = async (quotaOwner: string, result: TaskResult): Promise<string> => {
      const end = Promise.withResolvers<TaskResult>();
      const id = idOf(await runs.start(request(() => end.promise, quotaOwner, quotaOwner)));
      end.resolve(result);
      await end.promise;
      return id;
    };
    const read = (id: string, owner: string) => runs.wait(id, { ...waiter, owner });

    it("make room for each other, and never cost another client one of its own", async () => {
      const adas = [await keep("ada", finished), await keep("ada", finished)];
      const bobs: string[] = [];
      for (let at = 0; at < 70; at++) bobs.push(await keep("bob", finished));
      expect(runs.kept).toBe(66);
      for (const id of adas) expect(await read(id, "ada")).toMatchObject({ state: "finished" });
      await expect(read(bobs[5] ?? "", "bob")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      expect(await read(bobs[6] ?? "", "bob")).toMatchObject({ state: "finished" });
    });

    it("hold so many characters together, and the last result whatever its size", async () => {
      const ada = await keep("ada", resultOf(10));
      const first = await keep("bob", resultOf(10 * 1024 * 1024));
      const second = await keep("bob", resultOf(10 * 1024 * 1024));
      const third = await keep("bob", resultOf(17 * 1024 * 1024));
      expect(runs.kept).toBe(2);
      for (const id of [first, second])
        await expect(read(id, "bob")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      expect(await read(third, "bob")).toMatchObject({ state: "finished" });
      expect(await read(ada, "ada")).toMatchObject({ state: "finished" });
    });
  });

  it("admits a client that has few runs where others have taken all places", async () => {
    const refused = expect.objectContaining({ code: "SERVER_BUSY" });
    const begin = async (options: ExecuteOptions): Promise<TaskResult> =>
      options.signal?.aborted === true ? finished : forever(options);
    const start = (quotaOwner: string) =>
      runs.start(request(begin, quotaOwner, quotaOwner)).catch((error) => error);
    const taken = ["ada", "bob"].flatMap((quotaOwner) =>
      Array.from({ length: 500 }, () => start(quotaOwner)),
    );
    await Promise.resolve();
    expect([runs.active, await start("ada")]).toEqual([1_000, refused]);
    expect(await start("eve")).toMatchObject({ state: "running" });
    await runs.close();
    await Promise.all(taken);
  });

  describe("the runs of one client at once", () => {
    const begun = async (areQueued: boolean, audience: string): Promise<number> => {
      const registry = new RunRegistry({ yieldAfterMs: 10, areQueued });
      let count = 0;
      const begin = async (options: ExecuteOptions): Promise<TaskResult> => {
        count += 1;
        return options.signal?.aborted === true ? finished : forever(options);
      };
      const facts = { input: "", session: "", redactor: undefined, audience };
      for (let at = 0; at < 40; at += 1)
        void registry.start({ ...request(begin), quotaOwner: "ada", facts }).catch(() => {});
      await vi.advanceTimersByTimeAsync(1);
      const atOnce = count;
      await registry.close();
      return atOnce;
    };

    it("are few on this machine, and all in a queue that knows the client", async () => {
      expect(await begun(false, "ada")).toBeLessThan(40);
      expect(await begun(true, "ada")).toBe(40);
      expect(await begun(true, "")).toBeLessThan(40);
    });
  });

  describe("wait and end", () => {
    it("are for the run's owner only", async () => {
      const id = idOf(await runs.start(request(forever, "ada")));
      const strange = { code: "RUN_NOT_FOUND", details: { run: id, idleMs: 600_000 } };
      await expect(runs.wait(id, { ...waiter, owner: "bob" })).rejects.toMatchObject(strange);
      await expect(runs.end(id, "")).rejects.toMatchObject(strange);
      await expect(runs.answer(id, new Map(), waiter)).rejects.toMatchObject(strange);
      expect(() => runs.questionsOf(id, "bob")).toThrow(expect.objectContaining(strange));
      expect(await runs.end(id, "ada")).toBe(finished);
      await expect(runs.wait(id, { ...waiter, owner: "ada" })).rejects.toThrow(
        `There is no run "${id}". Its result was read already, it was ended, or nobody asked for it for 10 minutes.`,
      );
    });

    it("give the output since the last time, and 256 KiB of it at most", async () => {
      let emit: ExecuteOptions["onEvent"];
      const id = idOf(
        await runs.start(
          request((options) => {
            emit = options.onEvent;
            return forever(options);
          }),
        ),
      );
      const print = (text: string): void => emit?.({ type: "output", chunk: { stream: "stdout", text } });
      emit?.({ type: "waiting", workers: 0 });
      expect(await runs.wait(id, waiter)).toMatchObject({
        state: "running",
        waitsFor: "no worker takes runs",
      });
      print("more\n");
      expect(await runs.wait(id, waiter)).toMatchObject({ waitsFor: undefined, output: "more\n" });
      expect(await runs.wait(id, waiter)).toMatchObject({ output: "" });
      print("x".repeat(300_000));
      expect(await runs.wait(id, waiter)).toMatchObject({ output: "x".repeat(256 * 1024 - 5) });
      print("y");
      expect(await runs.wait(id, waiter)).toMatchObject({ output: "" });
    });

    it("keep output and result from a call that is cancelled", async () => {
      const { promise, resolve } = Promise.withResolvers<TaskResult>();
      const id = idOf(await runs.start(request(() => promise)));
      const left = { owner: "", signal: AbortSignal.abort(new Error("left")) };
      await expect(runs.wait(id, left)).rejects.toThrow("left");
      resolve(finished);
      await promise;
      await expect(runs.wait(id, left)).rejects.toThrow("left");
      expect(await runs.wait(id, waiter)).toEqual({ state: "finished", result: finished });
      await expect(runs.wait(id, waiter)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    });

    it("tell the run's events to the call that waits", async () => {
      let emit: ExecuteOptions["onEvent"];
      const heard: string[] = [];
      const listen = (name: string) => () => void heard.push(name);
      const begin = (options: ExecuteOptions): Promise<TaskResult> => {
        emit = options.onEvent;
        return forever(options);
      };
      const id = idOf(await runs.start({ ...request(begin), onEvent: listen("first") }));
      emit?.({ type: "stage-started", stage: "run" });
      const waits = runs.wait(id, { ...waiter, onEvent: listen("second") });
      emit?.({ type: "stage-started", stage: "run" });
      await waits;
      expect(heard).toEqual(["first", "second"]);
    });
  });

  describe("a run of a replica of the server that is gone", () => {
    const ID = "run-gone.abcdefghijkl";
    let replica = new RunRegistry({ yieldAfterMs: 10 });
    beforeEach(() => {
      replica = new RunRegistry({ yieldAfterMs: 10, replica: "here" });
    });
    afterEach(() => replica.close());

    it("is gone on with by the same client, under an id that names this replica", async () => {
      const keys: string[] = [];
      const ends = Promise.withResolvers<TaskResult>();
      const rejoin = (key: string) => (keys.push(key), ends.promise);
      replica.adopt(ID, rejoin, { ...waiter, owner: "ada" });
      replica.adopt(ID, rejoin, { ...waiter, owner: "ada" });
      const ada = { ...waiter, owner: "ada" };
      expect(await replica.wait(ID, ada)).toMatchObject({ state: "running", id: "run-here.abcdefghijkl" });
      await expect(replica.wait(ID, waiter)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      ends.resolve(finished);
      expect(await replica.wait("run-here.abcdefghijkl", ada)).toEqual({
        state: "finished",
        result: finished,
      });
      expect(keys).toEqual([JSON.stringify(["abcdefghijkl", "ada"])]);
    });

    it("is not there when nobody knows it, and not asked for when it was this replica's", async () => {
      let asked = 0;
      const rejoin = async () => void (asked += 1);
      replica.adopt(ID, rejoin, waiter);
      await expect(replica.wait(ID, waiter)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
      replica.adopt("run-here.abcdefghijkl", rejoin, waiter);
      await expect(replica.wait("run-here.abcdefghijkl", waiter)).rejects.toMatchObject({
        code: "RUN_NOT_FOUND",
      });
      expect([asked, replica.kept, replica.active]).toEqual([1, 0, 0]);
    });

    it("is left to others when nobody asks here any longer; a call can end it", async () => {
      const happened: string[] = [];
      const rejoin: Agent["rejoinRun"] = (_, { leave, signal: ended } = {}) =>
        new Promise((resolve) => {
          leave?.addEventListener("abort", () => (happened.push("left"), resolve(finished)));
          ended?.addEventListener("abort", () => (happened.push("cancelled"), resolve(finished)));
        });
      replica.adopt(ID, rejoin, waiter);
      await vi.advanceTimersByTimeAsync(600_000);
      expect(happened[0]).toBe("left");
      happened.length = 0;
      replica.adopt(ID, rejoin, waiter);
      await replica.end(ID, "");
      expect(happened).toEqual(["cancelled"]);
    });
  });

  it("leaves kept runs to other replicas when it closes, and cancels the others", async () => {
    const happened: string[] = [];
    const begin =
      (name: string) =>
      (options: ExecuteOptions): Promise<TaskResult> => {
        options.rejoin?.leave?.addEventListener("abort", () => happened.push(`${name} left`));
        return forever(options);
      };
    await runs.start(request(begin("kept")));
    const slow = new RunRegistry({ yieldAfterMs: 10_000 });
    const own = slow.start(request(begin("own")));
    await Promise.all([runs.close(), slow.close()]);
    await own;
    expect(happened).toEqual(["kept left"]);
  });

  it("lets runs that wait for an answer keep no place of others, up to a bound, and says what a run waits for", async () => {
    const client = (begin: RunRequest["begin"]) => runs.start(request(begin, "ada", "ada"));
    const asks = async ({ onElicit, signal: ended }: ExecuteOptions): Promise<TaskResult> => {
      const form = { mode: "form", server: "s", message: "?", requestedSchema: {}, signal: ended } as never;
      await Promise.all([onElicit?.(form), onElicit?.(form)]);
      return finished;
    };
    const asking = MAX_ACTIVE_RUNS_PER_CLIENT + MAX_ASKING_RUNS_PER_CLIENT;
    const ids: string[] = [];
    while (ids.length < asking) {
      expect(await client(async () => finished)).toMatchObject({ state: "finished" });
      ids.push(idOf(await client(asks)));
    }
    const events: unknown[] = [];
    const onEvent = (event: unknown) => void events.push(event);
    const id = idOf(await runs.start({ ...request(async () => finished, "ada", "ada"), onEvent }));
    expect(events).toEqual([{ type: "waiting", asking: MAX_ACTIVE_RUNS_PER_CLIENT }]);
    const after = { ...waiter, owner: "ada" };
    const view = { state: "running", waitsFor: "behind runs that wait for an answer" };
    expect(await runs.wait(id, after)).toMatchObject(view);
    const answers = [...runs.questionsOf(ids[0] ?? "", "ada").keys()].map((key) => [
      key,
      { action: "decline" },
    ]);
    await runs.answer(ids[0] ?? "", new Map(answers as never), after);
    expect(await runs.wait(id, after)).toMatchObject({ state: "finished" });
  });

  it("answers calls that wait for such a run with its id, since it goes on without this server", async () => {
    const question = { mode: "form", server: "s", message: "?", requestedSchema: {}, signal } as never;
    const begin =
      (isAsking: boolean) =>
      async ({ rejoin, onElicit }: ExecuteOptions): Promise<TaskResult> => {
        const left = new Promise((resolve) => rejoin?.leave?.addEventListener("abort", resolve));
        if (isAsking) await onElicit?.(question);
        await left;
        const error = { code: "ABORTED", message: "The run was left to others.", details: { isLeft: true } };
        return { status: "error", error } as unknown as TaskResult;
      };
    const ids = [idOf(await runs.start(request(begin(false)))), idOf(await runs.start(request(begin(true))))];
    const [name = ""] = runs.questionsOf(ids[1] ?? "", "").keys();
    const answers = new Map([[name, { action: "accept", content: {} }]]) as never;
    const waiting = [runs.wait(ids[0] ?? "", waiter), runs.answer(ids[1] ?? "", answers, waiter)];
    await runs.close();
    const running = ids.map((id) => expect.objectContaining({ state: "running", id }));
    expect(await Promise.all(waiting)).toEqual(running);
  });

  describe("a kept run that nobody asks for", () => {
    it("is ended after 10 minutes since it was last asked for", async () => {
      let reason: unknown;
      const begin = (options: ExecuteOptions): Promise<TaskResult> => {
        options.signal?.addEventListener("abort", () => (reason = options.signal?.reason));
        return forever(options);
      };
      const id = idOf(await runs.start(request(begin)));
      await vi.advanceTimersByTimeAsync(599_000);
      await runs.wait(id, waiter);
      await vi.advanceTimersByTimeAsync(599_000);
      expect([runs.active, runs.kept]).toEqual([1, 1]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect([runs.active, runs.kept]).toEqual([0, 0]);
      expect(reason).toMatchObject({ code: "ABORTED" });
    });
  });

  describe("a run that asks", () => {
    it("makes its call answer with the questions, and goes on when they are answered", async () => {
      const question = { mode: "form", server: "s", message: "?", requestedSchema: {}, signal } as never;
      const view = await runs.start(
        request(async ({ onElicit }) => {
          const answer = await onElicit?.(question);
          return { ...finished, output: String(answer?.action) };
        }),
      );
      expect(view).toMatchObject({ state: "asking" });
      const id = idOf(view);
      const questions = runs.questionsOf(id, "");
      const [key = ""] = questions.keys();
      expect([...questions.values()]).toEqual([question]);
      expect(await runs.answer(id, new Map([[key, { action: "decline" }]]), waiter)).toMatchObject({
        state: "finished",
        result: { output: "decline" },
      });
    });
  });

  describe("onFinished", () => {
    it("hears of each run's end, whether it has a result or not", async () => {
      const heard: unknown[] = [];
      runs.onFinished((run) => heard.push(run));
      await runs.start({ ...request(async () => finished), kind: "task" });
      await runs.start(request(() => Promise.reject(new Error("broken")))).catch(() => {});
      expect(heard).toEqual([
        { kind: "task", ms: expect.any(Number), status: "success", result: finished },
        {
          kind: "code",
          ms: expect.any(Number),
          status: "error",
          result: undefined,
          thrown: new Error("broken"),
        },
      ]);
      for (const { ms } of heard as { ms: number }[]) expect(ms).toBeLessThan(10_000);
    });
  });

  describe("launch", () => {
    it("goes on for as long as the run takes, though nobody asks for it, and keeps nothing of it", async () => {
      const { promise, resolve } = Promise.withResolvers<TaskResult>();
      const run = runs.launch(request(() => promise));
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect([runs.active, run.finished]).toEqual([1, false]);
      resolve(finished);
      await vi.advanceTimersByTimeAsync(1);
      expect([runs.active, runs.kept, vi.getTimerCount()]).toEqual([0, 0, 0]);
    });

    it("refuses those that are too many before they begin", async () => {
      let begun = 0;
      const launch = () =>
        runs.launch(
          request((options) => {
            begun += 1;
            return forever(options);
          }),
        );
      for (let count = 0; count < MAX_KEPT_RUNS_PER_CLIENT; count += 1) launch();
      expect(launch).toThrowError(expect.objectContaining({ code: "SERVER_BUSY" }));
      expect([begun, runs.active]).toEqual([MAX_KEPT_RUNS_PER_CLIENT, MAX_KEPT_RUNS_PER_CLIENT]);
    });

    it("ends where nobody answers a question of the run", async () => {
      const run = runs.launch(
        request(async ({ onElicit, signal: ended = signal }) => {
          await onElicit?.({ mode: "form", server: "s", message: "?", requestedSchema: {}, signal: ended });
          return finished;
        }),
      );
      await vi.advanceTimersByTimeAsync(600_001);
      await expect(run.result).rejects.toMatchObject({ code: "ABORTED" });
    });

    it("tells who watches of owners that are gone", () => {
      const gone: string[] = [];
      runs.watch(
        () => undefined,
        (owner) => gone.push(owner),
      );
      runs.forgetOf("customer a");
      expect(gone).toEqual(["customer a"]);
    });
  });

  describe("close", () => {
    it("refuses new runs, and ends those under way at once by default", async () => {
      let reason: unknown;
      const started = runs.start(
        request((options) => {
          options.signal?.addEventListener("abort", () => (reason = options.signal?.reason));
          return forever(options);
        }),
      );
      await runs.close();
      expect(await started).toEqual({ state: "finished", result: finished });
      expect(reason).toMatchObject({ code: "SERVER_CLOSING" });
      await expect(runs.start(request(forever))).rejects.toMatchObject({ code: "SERVER_CLOSING" });
      expect(runs.active).toBe(0);
    });

    it("lets runs finish in the time it is given", async () => {
      const { promise, resolve } = Promise.withResolvers<TaskResult>();
      let aborted: boolean | undefined;
      const started = runs.start(
        request(async ({ signal: ended }) => {
          const result = await promise;
          aborted = ended?.aborted;
          return result;
        }),
      );
      const closing = runs.close(5_000);
      await vi.advanceTimersByTimeAsync(4_000);
      resolve(finished);
      await Promise.all([closing, started]);
      expect(aborted).toBe(false);
      expect(vi.getTimerCount()).toBe(0);
    });

    it("forgets the runs that it kept", async () => {
      await runs.start(request(forever));
      await runs.close(1);
      expect([runs.active, runs.kept, vi.getTimerCount()]).toEqual([0, 0, 0]);
    });
  });
});

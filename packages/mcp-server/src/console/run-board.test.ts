import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { CemError } from "@cem/core";
import type { RedactionStream, Redactor } from "@cem/core";
import { describe, expect, it } from "vitest";
import { Run } from "../runs/run.ts";
import { RunBoard, streamRuns } from "./run-board.ts";

describe("RunBoard", () => {
  it("holds neither the session of a run that has ended nor its request", async () => {
    const board = new RunBoard();
    const kept: WeakRef<object>[] = [];
    const noting = <Held extends object>(held: Held): Held => {
      kept.push(new WeakRef(held));
      return held;
    };
    const openStream = (): RedactionStream => noting({ push: (text) => text, end: () => "" });
    const redactor = { tokenize: (data: unknown) => data, openStream } as unknown as Redactor;
    const begin = async (): Promise<void> => {
      const facts = { input: "1", audience: "ada", session: "a", redactor };
      const { signal } = new AbortController();
      const refuse = async (): Promise<never> => Promise.reject(new CemError("ABORTED", "It ended."));
      const onEvent = noting(() => {});
      const request = { kind: "code", owner: "ada", facts, signal, onEvent, begin: refuse } as const;
      const run = noting(new Run(request, board.watcherOf));
      await run.waitFor(1_000, { signal, onEvent });
    };
    await begin();
    await new Promise((resolve) => setImmediate(resolve));
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
    expect(board.list("ada")).toMatchObject([{ hasEnded: true }]);
    expect(kept.map((one) => one.deref())).toEqual([undefined, undefined, undefined]);
  });
});

describe("streamRuns", () => {
  it("ends once, however its reader goes away", async () => {
    const board = new RunBoard();
    const leaving = new AbortController();
    const cancelled = streamRuns(board, "ada", leaving.signal);
    const aborted = streamRuns(board, "ada", leaving.signal);
    expect(board.listening("ada")).toBe(2);
    await cancelled.body?.cancel();
    leaving.abort();
    expect(await aborted.text()).toBe(": open\n\n");
    expect(await streamRuns(board, "ada", leaving.signal).text()).toBe(": open\n\n");
    expect(board.listening("ada")).toBe(0);
  });
});

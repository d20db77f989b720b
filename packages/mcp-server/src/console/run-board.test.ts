import { describe, expect, it } from "vitest";
import { RunBoard, streamRuns } from "./run-board.ts";

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

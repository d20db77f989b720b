import type { JsonValue, ResultStore, ToolCall, ToolInvoker } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createMockInvoker } from "./mock-invoker.ts";
import { createRecorder, createReplayer, readKeptFiles, restoreKeptFiles } from "./recording.ts";

const signal = new AbortController().signal;
const call = (invoker: ToolInvoker, tool: string, args: JsonValue = {}): ReturnType<ToolInvoker["invoke"]> =>
  invoker.invoke({ server: "s", tool, args }, { signal });

/** Records two calls of `next`, one of a tool that fails, and two that end in the reverse order. */
async function record(): Promise<{ recording: unknown; results: unknown[] }> {
  let count = 0;
  const gate = Promise.withResolvers<void>();
  const recorder = createRecorder(
    createMockInvoker({
      s: {
        next: () => (count += 1),
        late: async (args) => {
          await gate.promise;
          return args;
        },
        soon: (args) => args,
      },
    }),
  );
  const results = [await call(recorder, "next"), await call(recorder, "next"), await call(recorder, "none")];
  const late = call(recorder, "late", { ms: 20, a: 1 });
  const soon = await call(recorder, "soon", { ms: 1 });
  expect(recorder.recording().calls).toHaveLength(4);
  gate.resolve();
  results.push(await late, soon);
  return { recording: JSON.parse(JSON.stringify(recorder.recording())) as unknown, results };
}

/** A recording of one call. */
function recordingOf(args: JsonValue, result: object, files?: object[]): unknown {
  const calls = [{ server: "s", tool: "t", args, result, ms: 3, files }];
  return { format: "cem-recording", version: 1, calls };
}

function memoryStore(): ResultStore & { files: Map<string, string> } {
  const files = new Map<string, string>();
  return {
    specificationVersion: "v1",
    files,
    async write(bytes, _mimeType, suggestedName) {
      const path = `/workspace/results/${files.size}-${suggestedName}`;
      files.set(path, Buffer.from(bytes).toString());
      return { path, size: bytes.length };
    },
    async read(path) {
      const bytes = Buffer.from(files.get(path) ?? "");
      return { bytes, mimeType: "text/plain", offset: 0, size: bytes.length };
    },
  };
}

describe("createRecorder", () => {
  it("passes results on and records them in the order of the calls", async () => {
    const { recording, results } = await record();
    expect(results[0]).toEqual({ ok: true, value: 1 });
    const { calls } = recording as { calls: object[] };
    expect(calls).toMatchObject([
      { server: "s", tool: "next", args: {}, result: { ok: true, value: 1 }, files: [] },
      { tool: "next", result: { ok: true, value: 2 } },
      { tool: "none", result: { ok: false, error: { code: "TOOL_NOT_FOUND" } } },
      { tool: "late", args: { ms: 20, a: 1 } },
      { tool: "soon" },
    ]);
    expect(recording).toMatchObject({ format: "cem-recording", version: 1 });
  });

  it("records a call without arguments, and how long it took in whole milliseconds", async () => {
    const recorder = createRecorder(createMockInvoker({ s: { t: 1 } }));
    expect(recorder.specificationVersion).toBe("v1");
    await recorder.invoke({ server: "s", tool: "t" } as ToolCall, { signal });
    const [first] = recorder.recording().calls;
    expect(first?.args).toBeNull();
    expect(Number.isInteger(first?.ms)).toBe(true);
    expect(first?.ms).toBeGreaterThanOrEqual(0);
    expect(first?.ms).toBeLessThan(60_000);
  });

  it("hides secrets, and keeps its copy when results are changed", async () => {
    const recorder = createRecorder(createMockInvoker({ s: { t: () => ({ key: "k-123" }) } }), {
      hideSecrets: (text) => text.replaceAll("k-123", "*"),
    });
    const result = await call(recorder, "t", { key: "k-123" });
    expect(result).toEqual({ ok: true, value: { key: "k-123" } });
    const { calls } = recorder.recording();
    expect(calls).toMatchObject([{ args: { key: "*" }, result: { value: { key: "*" } } }]);
  });

  it("records the files of results, and a replay stores them again", async () => {
    const [store, other] = [memoryStore(), memoryStore()];
    const { path, size } = await store.write(Buffer.from("abc"), "text/plain", "a.txt");
    const handle = { type: "text", mimeType: "text/plain", size, path };
    const recorder = createRecorder(createMockInvoker({ s: { t: handle } }), { store });
    await call(recorder, "t");
    const recording = recorder.recording();
    expect(recording.calls[0]?.files).toEqual([{ path, mimeType: "text/plain", data: "YWJj" }]);

    await other.write(Buffer.from("x"), "text/plain", "x.txt");
    const replayed = await call(createReplayer(recording, { store: other }), "t");
    expect(replayed).toEqual({ ok: true, value: { ...handle, path: "/workspace/results/1-a.txt" } });
    expect(other.files.get("/workspace/results/1-a.txt")).toBe("abc");
    expect(await call(createReplayer(recording), "t")).toEqual({ ok: true, value: handle });
  });

  it("records no files without a store", async () => {
    const handle = { type: "text", mimeType: "text/plain", size: 1, path: "/workspace/results/a" };
    const recorder = createRecorder(createMockInvoker({ s: { t: handle } }));
    await call(recorder, "t");
    expect(recorder.recording().calls[0]?.files).toEqual([]);
  });
});

describe("createReplayer", () => {
  it("returns the recorded results, those of the same call in their order", async () => {
    const { recording, results } = await record();
    const replayer = createReplayer(recording);
    const replayed = [
      await call(replayer, "next"),
      await call(replayer, "next"),
      await call(replayer, "none"),
    ];
    replayed.push(await call(replayer, "late", { a: 1, ms: 20 }), await call(replayer, "soon", { ms: 1 }));
    expect(replayed).toEqual(results);
    expect(replayer.specificationVersion).toBe("v1");
  });

  it("fails for a call that was not recorded", async () => {
    const replayer = createReplayer((await record()).recording);
    expect(await call(replayer, "next", { other: true })).toMatchObject({
      ok: false,
      error: {
        code: "NOT_RECORDED",
        message: "The call of s.next with these arguments is not in the recording. Record the run again.",
        details: { server: "s", tool: "next" },
      },
    });
    await call(replayer, "next");
    await call(replayer, "next");
    expect(await call(replayer, "next")).toMatchObject({
      error: {
        message: "The call of s.next is in the recording 2 times, and this is call 3. Record the run again.",
      },
    });
  });

  // Written by the version that had a canonical JSON of its own.
  it.each([
    [
      { b: 1, a: { d: [1, { f: 2, e: 3 }], c: null } },
      { a: { c: null, d: [1, { e: 3, f: 2 }] }, b: 1 },
    ],
    [
      { "10": "x", "9": "y", z: 1 },
      { z: 1, "9": "y", "10": "x" },
    ],
    [
      { ä: 1, Z: 2, a: 3 },
      { a: 3, Z: 2, ä: 1 },
    ],
    [null, null],
    ["text", "text"],
  ])("finds %j of an earlier recording as %j", async (recorded, args) => {
    const replayer = createReplayer(recordingOf(recorded, { ok: true, value: "found" }));
    expect(await call(replayer, "t", args)).toEqual({ ok: true, value: "found" });
  });

  it.each([
    [{ a: 1 }, { a: "1" }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: {} }, { a: [] }],
    [{ a: null }, {}],
    ["", null],
  ])("tells %j from %j", async (recorded, args) => {
    const replayer = createReplayer(recordingOf(recorded, { ok: true, value: 1 }));
    expect(await call(replayer, "t", args)).toMatchObject({ error: { code: "NOT_RECORDED" } });
  });

  it("stores nothing for a recording without files", async () => {
    const store = memoryStore();
    const recording = recordingOf({}, { ok: true, value: 1 });
    expect(await call(createReplayer(recording, { store }), "t")).toEqual({ ok: true, value: 1 });
    expect(store.files.size).toBe(0);
  });

  it("takes a call without arguments for one with null, and an error without details", async () => {
    const error = { code: "TOOL_FAILED", message: "no" };
    const replayer = createReplayer(recordingOf(null, { ok: false, error }));
    expect(await replayer.invoke({ server: "s", tool: "t" } as ToolCall, { signal })).toEqual({
      ok: false,
      error: { ...error, details: {} },
    });
  });

  it("hands out copies", async () => {
    const replayer = createReplayer({
      format: "cem-recording",
      version: 1,
      calls: [1, 2].map(() => ({
        server: "s",
        tool: "t",
        args: {},
        ms: 0,
        result: { ok: true, value: { a: 1 } },
      })),
    });
    const first = await call(replayer, "t");
    if (first.ok) (first.value as Record<string, number>)["a"] = 2;
    expect(await call(replayer, "t")).toEqual({ ok: true, value: { a: 1 } });
  });

  it.each([
    [{}, "This is not a recording: format"],
    [{ format: "cem-recording", version: 2, calls: [] }, "This is not a recording: version"],
    [
      { format: "cem-recording", version: 1, calls: [{ server: "s" }] },
      "This is not a recording: calls.0.tool",
    ],
    ["text", "This is not a recording: the file"],
  ])("refuses %j", (recording, message) => {
    expect(() => createReplayer(recording)).toThrow(message);
    expect(() => createReplayer(recording)).toThrow(
      expect.objectContaining({
        code: "RECORDING_INVALID",
        details: { place: message.split(": ")[1] },
      }) as Error,
    );
  });
});

const handle = { type: "text", mimeType: "text/plain", size: 3, path: "/workspace/results/1f-note.txt" };
const data = Buffer.from("abc").toString("base64");

/** A store of one file. It records what is read and written. */
function storeOf(content: string): ResultStore & { log: unknown[] } {
  const log: unknown[] = [];
  return {
    specificationVersion: "v1",
    log,
    async write(bytes, mimeType, suggestedName) {
      log.push([Buffer.from(bytes).toString(), mimeType, suggestedName]);
      return { path: `/workspace/results/new-${suggestedName}`, size: bytes.length };
    },
    async read(path, range) {
      if (path !== handle.path) throw new Error("not found");
      log.push(range);
      return { bytes: Buffer.from(content), mimeType: "text/plain", offset: 0, size: content.length };
    },
  };
}

describe("readKeptFiles", () => {
  it("reads the files of all handles in a value, whole", async () => {
    const store = storeOf("abc");
    const file = { path: handle.path, mimeType: "text/plain", data };
    expect(await readKeptFiles({ a: [1, { b: handle }], c: handle }, store)).toEqual([file, file]);
    expect(store.log).toEqual([{ limit: 3 }, { limit: 3 }]);
  });

  it.each([null, "text", 1, { path: "x" }])("finds none in %j", async (value) => {
    expect(await readKeptFiles(value, storeOf("abc"))).toEqual([]);
  });

  it("skips what only looks like a handle", async () => {
    expect(await readKeptFiles({ ...handle, path: "/workspace/results/none" }, storeOf("abc"))).toEqual([]);
  });

  it("skips files of more than 64 MiB", async () => {
    const limit = 64 * 1024 * 1024;
    expect(await readKeptFiles({ ...handle, size: limit + 1 }, storeOf("abc"))).toEqual([]);
    expect(await readKeptFiles({ ...handle, size: limit }, storeOf("abc"))).toHaveLength(1);
  });
});

describe("restoreKeptFiles", () => {
  const files = [{ path: handle.path, mimeType: "text/plain", data }];

  it("stores the files under their own names and puts the new paths into the value", async () => {
    const store = storeOf("");
    const other = { ...handle, path: "/workspace/results/other" };
    const value: JsonValue = { a: { ...handle }, b: [{ ...handle }, other] };
    const path = "/workspace/results/new-note.txt";
    expect(await restoreKeptFiles(value, files, store)).toEqual({
      a: { ...handle, path },
      b: [{ ...handle, path }, other],
    });
    expect(store.log).toEqual([["abc", "text/plain", "note.txt"]]);
  });

  it.each([
    ["/workspace/results/0123456789abcdef-a-b.txt", "a-b.txt"],
    ["plain.txt", "plain.txt"],
    ["/workspace/results/x-note.txt", "x-note.txt"],
    ["/workspace/results/note-1f-a.txt", "note-1f-a.txt"],
  ])("takes the id off the name in %s", async (path, name) => {
    const store = storeOf("");
    await restoreKeptFiles({ ...handle, path }, [{ path, mimeType: "text/plain", data }], store);
    expect(store.log).toEqual([["abc", "text/plain", name]]);
  });
});

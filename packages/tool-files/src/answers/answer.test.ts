import type { JsonValue, ResultStore, TaskResult } from "@cem/core";
import { describe, expect, it } from "vitest";
import { answerOf } from "./index.ts";

function resultWith(value: JsonValue, output = ""): TaskResult {
  return {
    status: "success",
    value,
    output,
    outputDroppedBytes: 0,
    error: null,
    code: "",
    origin: "given",
    selectedTools: [],
    availableTools: 0,
    toolCalls: [],
    isolation: null,
    timings: {},
    contextTokens: { direct: 0, used: 0, saved: 0 },
  };
}

/** A store in memory. */
function createStore(): ResultStore & { kept: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>();
  return {
    specificationVersion: "v1",
    kept,
    async write(bytes, _mimeType, name) {
      const path = `/workspace/results/${kept.size}-${name}`;
      kept.set(path, bytes);
      return { path, size: bytes.length };
    },
    async read(path) {
      const bytes = kept.get(path);
      if (bytes === undefined) throw new Error("There is no such result.");
      return { bytes, mimeType: "image/png", offset: 0, size: bytes.length };
    },
  };
}

describe("answerOf", () => {
  it("keeps a large value, and says how code reads it", async () => {
    const results = createStore();
    const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `Name ${id}` }));
    const { data } = await answerOf(resultWith(rows), { results });
    expect(data.result).toMatchObject({ type: "json", items: 5_000 });
    const { first } = data.result as { first: JsonValue[] };
    expect(first).toEqual(rows.slice(0, first.length));
    expect(first).toHaveLength(5);
    expect(JSON.stringify(data)).toContain("JSON.parse(await Deno.readTextFile(");
    expect(results.kept.size).toBe(1);
  });

  it("shows the first rows of a list, also within an object, and keeps the rest", async () => {
    const results = createStore();
    const rows = Array.from({ length: 700 }, (_, id) => ({ id, name: `Name ${id}`, city: "Rome" }));
    const { data } = await answerOf(resultWith({ total: 700, rows }), { results });
    expect(data.result).toMatchObject({
      total: 700,
      rows: { items: 700, first: expect.arrayContaining(rows.slice(0, 3)) },
    });
    expect(JSON.stringify(data).length).toBeLessThan(2_400);
    const [kept] = results.kept.values();
    expect(JSON.parse(Buffer.from(kept ?? []).toString())).toEqual(rows);
  });

  it.each([
    ["a short list", Array.from({ length: 20 }, () => "x".repeat(1_000))],
    ["a list of little", Array.from({ length: 900 }, (_, at) => at)],
    ["a text", "x".repeat(30_000)],
    ["an object without a list", { text: "x".repeat(30_000) }],
  ])("leaves %s whole", async (_, value) => {
    const { data } = await answerOf(resultWith(value), { results: createStore() });
    expect(data.result).toEqual(value);
  });

  it("shows the beginning and the end of long output, and how to read the rest", async () => {
    const output = Array.from({ length: 1_000 }, (_, at) => `line ${at}`).join("\n");
    const results = createStore();
    const { data } = await answerOf(resultWith(null, output), {
      results,
      readWith: (path) => `read ${path}`,
    });
    expect(data.output.length).toBeLessThan(2_400);
    expect(data.output).toMatch(
      /^line 0\n[^]*characters are left out here[^]*read \/workspace[^]*line 999$/u,
    );
    const short = output.slice(0, 6_000);
    expect((await answerOf(resultWith(null, short), { results })).data.output).toBe(short);
  });

  it("names no address of a service that only whoever runs the server knows", async () => {
    const message = "The store at redis://10.1.2.3:6379 can't be used: connect ECONNREFUSED.";
    const error = { code: "STORE_UNAVAILABLE", message, details: {} };
    const failed: TaskResult = { ...resultWith(null), status: "error", error };
    const { data } = await answerOf(failed, { results: undefined, hintFor: () => "docker run …" });
    expect(data.error).toBe(
      "A service behind this server does not work now (STORE_UNAVAILABLE). Try again in a moment; the server's log has the reason.",
    );
  });

  it("cuts a large value where nothing keeps it, and says so", async () => {
    const { data } = await answerOf(resultWith("x".repeat(100_000)), { results: undefined });
    expect(data.result).toContain("[cut: the value has 100002 characters of JSON");
  });

  it("attaches the images that a value refers to, and no forged ones", async () => {
    const results = createStore();
    const { path, size } = await results.write(Buffer.from("png"), "image/png", "photo.png");
    const handle = { type: "image", mimeType: "image/png", size, path };
    const forged = { ...handle, path: "/etc/passwd" };
    const { attachments } = await answerOf(resultWith({ photos: [handle, forged] }), { results });
    expect(attachments.map(({ type, uri }) => [type, uri])).toEqual([["image", `file://${path}`]]);
  });

  it("says how many images it does not attach", async () => {
    const results = createStore();
    const stored = Array.from({ length: 10 }, () => results.write(Buffer.from("png"), "image/png", "a.png"));
    const handles = (await Promise.all(stored)).map((one) => ({
      ...one,
      type: "image",
      mimeType: "image/png",
    }));
    const { attachments, summary } = await answerOf(resultWith(handles), { results });
    expect(attachments).toHaveLength(8);
    expect(summary).toContain("2 of the images, sounds and files are not shown");
  });

  it("names the tool that reads a long output only where there is one", async () => {
    const output = "line\n".repeat(10_000);
    const [plain, told] = await Promise.all([
      answerOf(resultWith(1, output), { results: createStore() }),
      answerOf(resultWith(1, output), { results: createStore(), readWith: (path) => `open ${path}` }),
    ]);
    expect(plain.data.output).toMatch(/All 50000: in code: await Deno\.readTextFile\("/u);
    expect(told.data.output).toContain(
      "All 50000: open /workspace/results/0-output.txt, or read that file in code",
    );
  });

  it("sums up calls by tool: the time that passed, what failed, and what the end of the run left without an answer", async () => {
    const call = { server: "crm", tool: "find", ms: 50, ok: true };
    const toolCalls = [
      { ...call, startMs: 0 },
      { ...call, startMs: 10 },
      { ...call, startMs: 100, ok: false },
      { ...call, startMs: 100, ok: false, isCancelled: true },
      { ...call, tool: "ping" },
      { ...call, tool: "ping" },
    ];
    const { summary } = await answerOf({ ...resultWith(1), toolCalls }, { results: undefined });
    expect(summary).toBe(
      "Tool calls: crm.find 4x 110 ms, 1 failed, 1 without an answer as the run ended; crm.ping 2x 100 ms.",
    );
  });
});

import type { JsonObject, ResultStore } from "@cem/core";
import { describe, expect, it } from "vitest";
import { DEFAULT_MAX_INLINE_BYTES, fitValue, keepBytes, keepOnce, readMimeType } from "./result-handles.ts";
import type { ResultKeeping } from "./result-handles.ts";

const tool = { server: "crm", name: "report" };

/** A store that keeps what it is given by path. */
function memoryStore(): ResultStore & { files: Map<string, { text: string; mimeType: string }> } {
  const files = new Map<string, { text: string; mimeType: string }>();
  return {
    specificationVersion: "v1",
    files,
    async write(bytes, mimeType, suggestedName) {
      const path = `/workspace/results/${suggestedName}`;
      files.set(path, { text: Buffer.from(bytes).toString(), mimeType });
      return { path, size: bytes.length };
    },
    read: () => Promise.reject(new Error("not read")),
  };
}

describe("fitValue", () => {
  const text = (bytes: number): string => "x".repeat(bytes - 2);

  it("returns a value up to the limit unchanged", async () => {
    const store = memoryStore();
    expect(DEFAULT_MAX_INLINE_BYTES).toBe(1_048_576);
    const value = text(DEFAULT_MAX_INLINE_BYTES);
    expect(await fitValue(tool, value, { store })).toBe(value);
    expect(await fitValue(tool, { a: 1 }, { store, maxInlineBytes: 7 })).toEqual({ a: 1 });
    expect(store.files.size).toBe(0);
  });

  it("stores a larger value whole and returns its handle with the beginning and its shape", async () => {
    const store = memoryStore();
    const value = { total: 500, rows: Array.from({ length: 500 }, (_, index) => index), done: true };
    const json = JSON.stringify(value);
    expect(await fitValue(tool, value, { store, maxInlineBytes: 1_000 })).toEqual({
      type: "json",
      mimeType: "application/json",
      size: json.length,
      path: "/workspace/results/report.json",
      preview: json.slice(0, 399),
      shape: { kind: "object", names: ["total", "rows", "done"], small: { total: 500, done: true } },
    });
    expect(
      await fitValue(tool, [text(2_000)], { store: memoryStore(), maxInlineBytes: 1_000 }),
    ).toMatchObject({
      type: "json",
      shape: { kind: "list" },
    });
    expect(store.files.get("/workspace/results/report.json")).toEqual({
      text: json,
      mimeType: "application/json",
    });
  });

  it.each(["ada@example.com", "4111 1111 1111 1111", "+49 30 1234 5678"])(
    "shows no part of %j where the beginning ends in it",
    async (value) => {
      for (let cut = 1; cut < value.length; cut += 1) {
        const long = `${"zz ".repeat(133).slice(0, 399 - cut)} ${value} ${text(2_000)}`;
        const kept = await fitValue(tool, long, { store: memoryStore(), maxInlineBytes: 1_000 });
        expect(kept).toMatchObject({ preview: expect.not.stringMatching(/[\d@+]|ada|exam/) as string });
      }
    },
  );

  it("stores a text as text, which is one for code where the tool is declared to return it", async () => {
    const store = memoryStore();
    const typed = { ...tool, isTyped: true };
    expect(await fitValue(typed, "äbc", { store, maxInlineBytes: 5 })).toMatchObject({
      type: "text",
      shape: { kind: "text" },
    });
    expect(await fitValue(tool, "äbc", { store, maxInlineBytes: 5 })).toEqual({
      type: "text",
      mimeType: "text/plain",
      size: 4,
      path: "/workspace/results/report.txt",
      preview: "äbc",
    });
  });

  it("fails without a store above 8 MiB, or above a larger limit", async () => {
    const limitBytes = 8 * 1024 * 1024;
    const value = text(limitBytes);
    expect(await fitValue(tool, value, {})).toBe(value);
    await expect(fitValue(tool, `${value}x`, {})).rejects.toMatchObject({
      code: "RESULT_TOO_LARGE",
      details: { server: "crm", tool: "report", bytes: limitBytes + 1, limitBytes },
    });
    const large = await fitValue(tool, `${value}x`, { maxInlineBytes: limitBytes + 1 });
    expect(large).toHaveLength(limitBytes - 1);
  });
});

describe("keepOnce", () => {
  const keep = (name: string, bytes: Uint8Array, keeping: ResultKeeping): Promise<JsonObject> =>
    keepBytes({ type: "image", mimeType: "image/png", bytes, name }, keeping);

  it("stores the same bytes once, also at the same time, and others by themselves", async () => {
    const store = memoryStore();
    const once = keepOnce({ store });
    const bytes = Buffer.from("picture");
    const kept = await Promise.all(["a", "b"].map((name) => keep(name, Buffer.from(bytes), once)));
    expect(kept.map(({ path }) => path)).toEqual(["/workspace/results/a.png", "/workspace/results/a.png"]);
    expect(await keep("c", Buffer.from("other"), once)).toMatchObject({ path: "/workspace/results/c.png" });
    expect([...store.files.keys()]).toEqual(["/workspace/results/a.png", "/workspace/results/c.png"]);
    expect(await keep("d", bytes, keepOnce({ store }))).toMatchObject({ path: "/workspace/results/d.png" });
  });

  it("leaves the rest as it is", async () => {
    expect(keepOnce({ maxInlineBytes: 3 })).toEqual({ maxInlineBytes: 3 });
    const once = keepOnce({ store: memoryStore(), maxInlineBytes: 3 });
    expect(once.maxInlineBytes).toBe(3);
    await expect(once.store?.read("/workspace/results/a.png")).rejects.toThrow("not read");
  });
});

describe("keepBytes", () => {
  const bytes = new Uint8Array([137, 80, 78, 71]);
  const picture = { type: "image", mimeType: "image/png", bytes, name: "dot" } as const;

  it("stores the bytes and returns their handle", async () => {
    const store = memoryStore();
    const handle = { type: "image", mimeType: "image/png", size: 4, path: "/workspace/results/dot.png" };
    expect(await keepBytes(picture, { store })).toStrictEqual(handle);
    expect(await keepBytes({ ...picture, uri: "file:///dot" }, { store })).toStrictEqual({
      ...handle,
      uri: "file:///dot",
    });
  });

  it("returns them as base64 without a store, up to the limit", async () => {
    const description = { type: "image", mimeType: "image/png", size: 4 };
    expect(await keepBytes(picture, {})).toStrictEqual({ ...description, data: "iVBORw==" });
    expect(await keepBytes({ ...picture, uri: "u" }, { maxInlineBytes: 4 })).toStrictEqual({
      ...description,
      uri: "u",
      data: "iVBORw==",
    });
    expect(await keepBytes(picture, { maxInlineBytes: 3 })).toStrictEqual({
      ...description,
      omitted: "more than 3 bytes, and there is no place to keep them",
    });
  });

  it.each([
    ["image/png", "png"],
    ["image/jpeg", "jpg"],
    ["image/gif", "gif"],
    ["image/webp", "webp"],
    ["image/svg+xml", "svg"],
    ["audio/wav", "wav"],
    ["audio/mpeg", "mp3"],
    ["audio/ogg", "ogg"],
    ["application/json", "json"],
    ["application/pdf", "pdf"],
    ["application/gzip", "gz"],
    ["application/zip", "zip"],
    ["text/plain", "txt"],
    ["text/html", "html"],
    ["text/csv", "csv"],
    ["text/markdown", "md"],
    ["text/x-unknown", "txt"],
    ["application/x-unknown", "bin"],
    ["context/text/", "bin"],
  ])("gives a file of type %s the extension %s", async (mimeType, extension) => {
    const { path } = await keepBytes({ ...picture, mimeType }, { store: memoryStore() });
    expect(path).toBe(`/workspace/results/dot.${extension}`);
  });

  it.each([
    ["../../etc/passwd", "etc-passwd"],
    ["--a  b__c--", "a-b__c"],
    ["Ünïcode 9", "n-code-9"],
    ["…", "result"],
    ["", "result"],
    ["x".repeat(100), "x".repeat(80)],
  ])("makes a safe file name of %j", async (name, expected) => {
    const { path } = await keepBytes({ ...picture, name }, { store: memoryStore() });
    expect(path).toBe(`/workspace/results/${expected}.png`);
  });
});

describe("readMimeType", () => {
  it.each([
    ["text/html", "text/html"],
    [" Text/HTML ; charset=utf-8", "text/html"],
    ["application/vnd.api+json", "application/vnd.api+json"],
    ["", "none/none"],
    ["text", "none/none"],
    ["text/", "none/none"],
    ["/html", "none/none"],
    ["text/html/more", "none/none"],
    ["a b/c", "none/none"],
    [`${"a".repeat(61)}/b`, "none/none"],
    [`a/${"b".repeat(81)}`, "none/none"],
    [1, "none/none"],
    [undefined, "none/none"],
  ])("reads %j as %s", (value, expected) => {
    expect(readMimeType(value, "none/none")).toBe(expected);
  });
});

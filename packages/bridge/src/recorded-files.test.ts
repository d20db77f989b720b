import type { JsonValue, ResultStore } from "@cem/core";
import { describe, expect, it } from "vitest";
import { readKeptFiles, restoreKeptFiles } from "./recorded-files.ts";

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

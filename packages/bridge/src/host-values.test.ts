import type { ResultStore } from "@cem/core";
import { describe, expect, it } from "vitest";
import { toJsonResult } from "./host-values.ts";

const tool = { server: "crm", name: "dot" };

describe("toJsonResult", () => {
  it("returns what JSON.stringify makes of a value", async () => {
    const value = { date: new Date(0), list: [undefined, Number.NaN], none: undefined };
    expect(await toJsonResult(tool, value, {})).toEqual({
      date: "1970-01-01T00:00:00.000Z",
      list: [null, null],
    });
    expect(await toJsonResult(tool, undefined, {})).toBeNull();
    expect(await toJsonResult(tool, null, {})).toBeNull();
  });

  it.each([
    ["image/png", "image"],
    ["audio/wav", "audio"],
    ["text/csv", "text"],
    ["application/json", "json"],
    ["application/pdf", "resource"],
    ["", "resource"],
  ])("gives a Blob of type %j the handle type %s", async (mimeType, type) => {
    expect(await toJsonResult(tool, new Blob(["a"], { type: mimeType }), {})).toEqual({
      type,
      mimeType: mimeType || "application/octet-stream",
      size: 1,
      data: "YQ==",
    });
  });

  it("keeps the same bytes once", async () => {
    const written: string[] = [];
    const store: ResultStore = {
      specificationVersion: "v1",
      async write(bytes) {
        written.push(Buffer.from(bytes).toString());
        return { path: `/workspace/results/${written.length}.png`, size: bytes.length };
      },
      read: () => Promise.reject(new Error("not read")),
    };
    const shot = (): Blob => new Blob(["picture"], { type: "image/png" });
    const handle = { type: "image", mimeType: "image/png", size: 7, path: "/workspace/results/1.png" };
    expect(await toJsonResult(tool, { first: shot(), again: shot() }, { store })).toEqual({
      first: handle,
      again: handle,
    });
    expect(written).toEqual(["picture"]);
  });

  it("finds bytes in arrays, in objects with and without a prototype, and in more than one place", async () => {
    const bytes = Buffer.from("a");
    const buffer = new TextEncoder().encode("a").buffer;
    const bare = Object.assign(Object.create(null) as object, { bytes: Buffer.from("a") });
    const data = { type: "resource", mimeType: "application/octet-stream", size: 1, data: "YQ==" };
    expect(await toJsonResult(tool, { list: [bytes, buffer], bare, other: { bytes } }, {})).toEqual({
      list: [data, data],
      bare: { bytes: data },
      other: { bytes: data },
    });
  });

  it("leaves objects of a class, and wrapped values, to JSON", async () => {
    const value = {
      empty: Object.create({ shared: 1 }) as unknown,
      number: Object(1) as unknown,
      text: Object("") as unknown,
    };
    expect(await toJsonResult(tool, value, {})).toEqual({ empty: {}, number: 1, text: "" });
  });

  it("leaves objects of a class to their toJSON", async () => {
    class Custom {
      readonly bytes = Buffer.from("a");
      toJSON(): string {
        return "custom";
      }
    }
    expect(await toJsonResult(tool, new Custom(), {})).toBe("custom");
  });

  it("stores a large value or text as a whole", async () => {
    const written: [string, string][] = [];
    const store: ResultStore = {
      specificationVersion: "v1",
      async write(bytes, mimeType) {
        written.push([mimeType, Buffer.from(bytes).toString()]);
        return { path: "/workspace/results/a", size: bytes.length };
      },
      read: () => Promise.reject(new Error("not read")),
    };
    const keeping = { store, maxInlineBytes: 10 };
    const date = { at: new Date(0) };
    expect(await toJsonResult(tool, date, keeping)).toMatchObject({
      type: "json",
      preview: '{"at":"1970-01-01T00:00:00.000Z"}',
    });
    expect(await toJsonResult(tool, date.at, keeping)).toMatchObject({ type: "text", size: 24 });
    expect(await toJsonResult(tool, "€ and more", keeping)).toMatchObject({ type: "text", size: 12 });
    expect(await toJsonResult(tool, "12345678", keeping)).toBe("12345678");
    expect(written).toEqual([
      ["application/json", JSON.stringify(date)],
      ["text/plain", "1970-01-01T00:00:00.000Z"],
      ["text/plain", "€ and more"],
    ]);
  });

  it("makes a list of a Set, an object of a Map and what an Error says, with the bytes in them", async () => {
    const data = { type: "resource", mimeType: "application/octet-stream", size: 1, data: "YQ==" };
    const value = new Map<string, unknown>([
      ["ids", new Set([1, new Map([[2, "b"]])])],
      ["file", Buffer.from("a")],
      ["failed", [new TypeError("x")]],
    ]);
    const failed = [{ name: "TypeError", message: "x" }];
    expect(await toJsonResult(tool, value, {})).toEqual({ ids: [1, { 2: "b" }], file: data, failed });
  });

  it.each([
    [Number.NaN, "NaN"],
    [new Date(Number.NaN), "an invalid date"],
    [() => 1, "a function"],
    [[new Map([[{}, 1]])], "an object of type Map, in place of its values as a list or an object"],
    [
      { rows: [].values() },
      "an object of type Array Iterator, in place of its values as a list or an object",
    ],
    [(function* () {})(), "an object of type Generator, in place of its values as a list or an object"],
    [
      new Float64Array([1.5]),
      "an object of type Float64Array, in place of its values as a list or an object",
    ],
    [new Headers(), "an object of type Headers, in place of its values as a list or an object"],
    [{ row: Promise.resolve(1) }, "an object of type Promise, in place of its values as a list or an object"],
  ])("refuses %o, which would be written as nothing", async (value, reason) => {
    await expect(toJsonResult(tool, value, {})).rejects.toMatchObject({
      code: "RESULT_NOT_JSON",
      message: `crm.dot returned what JSON can't represent: ${reason}.`,
    });
  });

  it("fails for what JSON can't represent", async () => {
    const circle: Record<string, unknown> = { bytes: Buffer.from("a") };
    circle["self"] = circle;
    for (const value of [circle, { n: 1n }]) {
      await expect(toJsonResult(tool, value, {})).rejects.toMatchObject({
        code: "RESULT_NOT_JSON",
        details: { server: "crm", tool: "dot" },
      });
    }
  });
});

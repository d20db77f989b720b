import { describe, expect, it } from "vitest";
import type { JsonValue } from "@cem/core";
import { createRedactor } from "./index.ts";
import { piecesOf } from "./large-kept-work.ts";

const MAX_PIECE_BYTES = 512 * 1024;
const value = (at: number): string => `user${at}@example.com`;
const rows = Array.from({ length: 30_000 }, (_, at) => ({ at, email: value(at), note: 'é "quoted"\n\\ 😀' }));

/** The data of all pieces. */
function read(given: Uint8Array): unknown[] {
  const { bytes = given, isJson, pieces } = piecesOf(given);
  return pieces.map(({ start, end, open, close }) => {
    expect(end - start).toBeLessThan(MAX_PIECE_BYTES);
    const text = open + new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(start, end)) + close;
    return isJson ? (JSON.parse(text) as unknown) : text;
  });
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("piecesOf", () => {
  it("cuts JSON within the members that lead to each part", () => {
    const list = read(utf8(JSON.stringify({ n: 1, data: { rows } }, null, 1)));
    expect(list.length).toBeGreaterThan(5);
    expect(list[0]).toEqual({ n: 1 });
    expect(list.slice(1).flatMap((piece) => (piece as { data: { rows: unknown[] } }).data.rows)).toEqual(
      rows,
    );
    expect(read(utf8(` ${JSON.stringify(rows)}\n`)).flat()).toEqual(rows);
    expect(read(utf8('{"a":[]}'))).toEqual([{ a: [] }]);
  });

  it.each([
    [
      "a text in JSON",
      (text: string) => utf8(JSON.stringify({ content: text })),
      (piece: unknown) => (piece as { content: string }).content,
    ],
    ["a text", utf8, String],
    ["a text in quotes, with a line end", (text: string) => utf8(` ${JSON.stringify(text)}\n`), String],
    ["lines of JSON", (text: string) => utf8(`{"a":1}\n${text}`), String],
    ["UTF-16", (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le"), String],
    ["UTF-16 without a byte order mark", (text: string) => Buffer.from(text, "utf16le"), String],
    ["Latin-1", (text: string) => Buffer.from(text.replaceAll("😀", "ü"), "latin1"), String],
  ])("cuts %s without losing a value", (_, bytesOf, textOf) => {
    const text = rows.map(({ email, note }) => `${email} ${note}`).join("\n");
    const pieces = read(bytesOf(text)).map(textOf);
    expect(pieces.length).toBeGreaterThan(3);
    const found = new Set(pieces.flatMap((piece) => piece.match(/user\d+@example\.com/g) ?? []));
    expect(rows.filter(({ email }) => !found.has(email))).toEqual([]);
  });

  it.each([
    ["a file", utf8],
    ["a text in JSON", (text: string) => utf8(JSON.stringify([text]))],
  ])("has the names of a table's columns in each piece of %s", async (_, bytesOf) => {
    const secret = (at: number): string => `pw-${at}-Xk93${at}`;
    const table = Array.from({ length: 60_000 }, (_, at) => `${at},${value(at)},${secret(at)}`);
    const redactor = createRedactor();
    for (const piece of read(bytesOf(`id,email,password\n${table.join("\n")}\n`)))
      redactor.observe(piece as JsonValue, {});
    for (const at of [1, 20_000, 30_001, 59_999])
      expect(redactor.tokenize(`It is ${secret(at)}`, {})).not.toContain(secret(at));
  });

  it("has none of bytes that are no text", () => {
    expect(read(Uint8Array.from({ length: 5_000_000 }, (_, at) => (at * 7) % 256))).toEqual([]);
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeTextInPlace, endOfJson, isJson, partsOfJson, pastCharacter, readJson } from "./json-bytes.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON with a character taken out, added or changed. */
const damaged = fc
  .tuple(
    fc.json({ maxDepth: 3 }),
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.constantFrom(...Array.from('"\\{}[],:0-+.eEtnu \n\té\u0001')),
  )
  .map(([json, place, taken, added]) => {
    const at = place % (json.length + 1);
    return json.slice(0, at) + added + json.slice(at + taken);
  })
  .filter((text) => text.isWellFormed());

describe("endOfJson", () => {
  it("takes what JSON.parse takes, and nothing else", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(isJson(bytesOf(json))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(damaged, (text) => {
        expect([text, isJson(bytesOf(text))]).toEqual([text, parses(text)]);
      }),
      {
        numRuns: 2_000,
      },
    );
  });

  it.each([
    "",
    " ",
    "01",
    "-",
    "1.",
    "1e",
    "tru",
    '"a',
    '"\\x"',
    '"\\u12g4"',
    "[1,]",
    "{,}",
    '{"a"}',
    "[1 2]",
    "{1:2}",
    "]",
  ])("does not take %j", (text) => expect(isJson(bytesOf(text))).toBe(false));

  it("takes lists in lists a million deep", () => {
    const depth = 1_000_000;
    expect(endOfJson(bytesOf("[".repeat(depth) + "]".repeat(depth)))).toBe(2 * depth);
  });
});

describe("partsOfJson", () => {
  it("lists what JSON.parse reads", () => {
    const value = fc.oneof(
      fc.array(fc.jsonValue()),
      fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()),
    );
    const read = (bytes: Uint8Array): unknown => {
      const parts = [...partsOfJson(bytes)];
      const values = parts.map((part) => readJson(bytes, part));
      return bytes.includes(0x7b) && textOf(bytes).trim().startsWith("{")
        ? Object.fromEntries(parts.map(({ name = "" }, at) => [name, values[at]]))
        : values;
    };
    fc.assert(
      fc.property(value, fc.constantFrom(0, 1, 3), (given, indent) => {
        const json = JSON.stringify(given, null, indent);
        expect(read(bytesOf(` ${json}\n`))).toEqual(JSON.parse(json));
      }),
    );
    expect([...partsOfJson(bytesOf("7"))]).toEqual([]);
  });
});

describe("decodeTextInPlace", () => {
  it("gives the bytes of the text", () => {
    const escaped = (text: string): string =>
      JSON.stringify(text).replace(
        /[^\x20-\x7E]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.boolean(), (text, isEscaped) => {
        const bytes = bytesOf(isEscaped ? escaped(text) : JSON.stringify(text));
        expect(textOf(decodeTextInPlace(bytes, { start: 0, end: bytes.length }))).toBe(text);
      }),
    );
    for (const half of ['"\\ud83d"', '"\\ude00x"', '"\\ud83d\\u0041"', '"\\/\\b\\f\\n\\r\\t"']) {
      const bytes = bytesOf(half);
      const text = JSON.parse(half) as string;
      expect(textOf(decodeTextInPlace(bytes, { start: 0, end: bytes.length }))).toBe(text.toWellFormed());
    }
  });
});

describe("pastCharacter", () => {
  it("goes from character to character", () => {
    const bytes = bytesOf(String.raw`"aé\n\u00e9😀\\b"`);
    const places: number[] = [];
    for (let at = 1; at < bytes.length - 1; at = pastCharacter(bytes, at)) places.push(at);
    expect(places).toEqual([1, 2, 4, 6, 12, 16, 18]);
  });
});

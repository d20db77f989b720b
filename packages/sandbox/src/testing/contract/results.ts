import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@cem/core";
import { expect, it } from "vitest";
import { recordingInvoker, type Harness } from "./harness.ts";

const GET = `import { callTool } from "./client/index.ts";\nconst result: any = await callTool("host", "get");\n`;

/** Contract tests: results that are kept as files and reach the program as handles. */
export function resultsContract(harness: () => Harness): void {
  const keep = (name: string, content: string | Uint8Array, more: Record<string, JsonValue> = {}) => {
    const folder = join(harness().workspace, "results");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), content);
    const size = Buffer.byteLength(content);
    return { type: "text", mimeType: "text/plain", size, path: `/workspace/results/${name}`, ...more };
  };
  const value = (code: string, result: JsonValue) =>
    harness().value(GET + code, { invoker: recordingInvoker(() => result) });

  it("are read whole, as text, JSON, bytes or a file", async () => {
    const handle = keep("1-large.json", JSON.stringify({ rows: Array.from({ length: 1_000 }, (_, n) => n) }));
    const code = `const { rows } = await result.json();
export default [rows.length, (await result.text()).length, (await result.bytes(1, 6)).join(), Deno.readTextFileSync(result.path).length];`;
    expect(await value(code, handle)).toEqual([1_000, handle.size, "34,114,111,119,115,34", handle.size]);
  });

  it("are the plain handle as JSON, also deep inside a value", async () => {
    const handle = keep("2-note.txt", "note");
    const nested = { items: [{ deep: handle }], count: 1 };
    const code = `const text = await result.items[0].deep.text();
export default { text, keys: Object.keys(result.items[0].deep), result };`;
    expect(await value(code, nested)).toEqual({ text: "note", keys: Object.keys(handle), result: nested });
  });

  it("reach another tool as their text, wherever they stand in its argument", async () => {
    const handle = keep("17-text.txt", "long".repeat(100));
    const invoker = recordingInvoker(({ tool, args }) => (tool === "get" ? { deep: handle } : args));
    const code = `${GET}export default await callTool("host", "put", { data: [result.deep] });`;
    expect(await harness().value(code, { invoker })).toEqual({ data: ["long".repeat(100)] });
  });

  it("stay handles in the members of an error that is returned", async () => {
    const handle = keep("18-text.txt", "long".repeat(20_000));
    const code = "return Object.assign(new Error('odd'), { data: result });";
    expect(await value(code, handle)).toEqual({ name: "Error", message: "odd", data: handle });
  });

  it("come in pages that cut no character", async () => {
    const text = "aé漢😀".repeat(50);
    const code = `let text = ""; let pages = 0; let offset: number | null = 0;
while (offset !== null) { const page = await result.page(offset, 7); text += page.text; offset = page.next; pages++; }
export default [text, pages > 60, (await result.page(1e9)).text];`;
    expect(await value(code, keep("3-pages.txt", text))).toEqual([text, true, ""]);
  });

  it("say which parts there are, where a program asks for odd ones", async () => {
    const odd = '[[-1, 5], [0, -1], [0.5, 5], [NaN, 5], ["0", 5], [0, null]]';
    const code = `const told: string[] = [];
for (const [offset, limit] of ${odd} as any[]) for (const read of [result.page, result.bytes])
  await read(offset, limit).catch((error: Error) => told.push(error.message));
return told;`;
    const expected = ["offset -1", "limit -1", "offset 0.5", "offset NaN", "offset string", "limit null"];
    expect(await value(code, keep("16-odd.txt", "text"))).toEqual(
      expected
        .flatMap((one) => [one.split(" "), one.split(" ")])
        .map(([name, given]) => `${name} is a whole number of bytes from 0 on, not ${given}.`),
    );
  });

  it("tell a program that takes an image for text", async () => {
    const handle = keep("4-dot.png", new Uint8Array([137, 80]), { type: "image", mimeType: "image/png" });
    const code = `const bytes = await result.bytes();
try { await result.text(); } catch (error) { return [bytes[0], error.message]; }`;
    expect(await value(code, handle)).toEqual([
      137,
      expect.stringContaining("is image/png, not text. Use bytes()"),
    ]);
  });

  it("lead nowhere else, whatever a server says", async () => {
    writeFileSync(join(harness().workspace, "state.json"), "{}");
    const paths = [
      "/etc/passwd",
      "/workspace/state.json",
      "/workspace/results/../state.json",
      "/workspace/results/",
    ];
    const like = (path: string) => ({ type: "text", mimeType: "text/plain", size: 1, path });
    const code = `export default result.map((one: any) => typeof one.text);`;
    const results = [...paths.map(like), like("/workspace/results/fine.txt")];
    expect(await value(code, results)).toEqual([
      "undefined",
      "undefined",
      "undefined",
      "undefined",
      "function",
    ]);
  });

  it("have the shape of the value, of which the large parts are read when they are looked at", async () => {
    const whole = { total: 3, rows: [1, 2, 3], text: "long", __proto__: undefined, toString: "own" };
    const handle = keep("6-shaped.json", JSON.stringify(whole), {
      type: "json",
      mimeType: "application/json",
      shape: { kind: "object", names: ["total", "rows", "text", "toString"], small: { total: 3 } },
    });
    const code = `const seen: unknown[] = [result.total, Object.keys(result), typeof result.json, result.path, (await callTool("host", "get") as any) !== result];
const same = result.rows === result.rows; result.text = "mine";
seen.push(same, result.rows.length, result.toString, (await result.json()).text, JSON.stringify(result), { ...result }.total);
const unread: any = await callTool("host", "get"); const copied = structuredClone({ ...unread });
return [seen, await callTool("host", "get"), { nested: await callTool("host", "get") }, result, copied.text];`;
    const { shape: _, ...plain } = handle as Record<string, JsonValue>;
    const read = { ...whole, text: "mine" };
    expect(await value(code, handle)).toEqual([
      [3, ["total", "rows", "text", "toString"], "function", handle.path, true]
        .concat([true, 3, "own", "long"] as never)
        .concat(JSON.stringify(read) as never, 3 as never),
      plain,
      { nested: plain },
      read,
      "long",
    ]);
  });

  it("are passed to a tool as the value that they stand for", async () => {
    const handle = keep("7-args.json", '{"rows":[1]}', {
      type: "json",
      shape: { kind: "object", names: ["rows"], small: {} },
    });
    const invoker = recordingInvoker(() => handle);
    await harness().value(`${GET}await callTool("host", "put", { result });`, { invoker });
    expect(invoker.calls.at(-1)?.args).toEqual({ result: { rows: [1] } });
  });

  it("that are a list or a text are one, unless they are too large to be read at once", async () => {
    const list = keep("8-list.json", "[1,2]", { type: "json", shape: { kind: "list" } });
    const isList = `return [Array.isArray(result), result.length, await result.text(), result];`;
    expect(await value(isList, list)).toEqual([true, 2, "[1,2]", [1, 2]]);
    const text = keep("9-text.txt", "a,b", { shape: { kind: "text" } });
    expect(await value('return result.split(",").length;', text)).toBe(2);
    const large = { ...list, size: 9 * 1024 * 1024 };
    const isRead = `const early = result.path; return [early, Array.isArray(result), result.map((n: number) => n + 1), [...result], Object.keys(result), await result.text()];`;
    expect(await value(isRead, large)).toEqual([list["path"], true, [2, 3], [1, 2], ["0", "1"], "[1,2]"]);
    const unread = { type: "json", mimeType: "text/plain", size: large.size, path: list["path"] };
    expect(await value("return result;", large)).toEqual({ ...unread });
    const plain = keep("15-plain.txt", "a,b", { type: "text" });
    const isText = "try { return `${result}`; } catch (error) { return error.message; }";
    expect(await value(isText, plain)).toContain("await result.text() gives the text");
    const record = {
      ...keep("13-record.json", '{"a":1,"b":{"c":2}}'),
      type: "json",
      shape: { kind: "record" },
    };
    const isRecord = `return ["b" in result, result.b.c, Object.entries(result).length, { ...result }, JSON.stringify(result)];`;
    expect(await value(isRecord, record)).toEqual([true, 2, 2, { a: 1, b: { c: 2 } }, '{"a":1,"b":{"c":2}}']);
    const shape = { kind: "object", names: ["rows"], small: {} };
    const object = keep("10-huge.json", '{"rows":[]}', { type: "json", shape });
    const huge = { ...object, size: 40 * 1024 * 1024 };
    const uses: [JsonValue, string][] = [
      [huge, "result.rows"],
      [{ ...list, size: huge.size }, "result.length"],
      ...[
        'result.split(",")',
        "`${result}`",
        "[...result]",
        "/a/.test(result)",
        "JSON.stringify({ result })",
      ].map((use): [JsonValue, string] => [{ ...text, size: huge.size }, use]),
    ];
    for (const [result, use] of uses)
      expect(
        await value(`try { ${use}; } catch (error) { return [error.name, error.message]; }`, result),
      ).toEqual([
        "RangeError",
        expect.stringContaining("too much to read at once. Read it in parts: await result.page("),
      ]);
  });

  it("give the items of their lists one by one, whatever their size", async () => {
    const rows = Array.from({ length: 9_000 }, (_, n) => ({ n, text: `é漢😀 "[{\\ ${"x".repeat(n % 90)}` }));
    const whole = {
      note: '}"],',
      empty: [],
      data: { of: { none: {} }, rows },
      last: [1, -2.5e3, null, "a", [[]], {}],
    };
    const shape = { kind: "object", names: ["note", "empty", "data", "last"], small: {} };
    const handle = keep("14-items.json", JSON.stringify(whole), {
      type: "json",
      shape,
      size: 40 * 1024 * 1024,
    });
    const code = `let count = 0; let same = true;
for await (const row of result.items("data", "rows")) same &&= row.n === count++ && row.text.startsWith('é漢😀 "[{');
const wrong: string[] = [];
for (const names of [[], ["none"], ["note"], ["data", "of", "none", "x"]]) try { [...result.items(...names)]; } catch (error) { wrong.push(error.message); }
return [count, same, [...result.items("last")], [...result.items("empty")], wrong.length, wrong[0]];`;
    expect(await value(code, handle)).toEqual([
      9_000,
      true,
      whole.last,
      [],
      4,
      expect.stringContaining('items("rows")'),
    ]);
    const spaced = keep("15-spaced.json", ' [ 1 , { "a" : [ 2 ] } ,\n"b" ] ', { shape: { kind: "list" } });
    expect(await value("return [...result.items()];", spaced)).toEqual([1, { a: [2] }, "b"]);
    const cut = keep("16-cut.json", '[1, "a', { size: 1e9, shape: { kind: "list" } });
    expect(await value("try { return [...result.items()]; } catch (error) { return error.name; }", cut)).toBe(
      "SyntaxError",
    );
  });

  it("have no shape that is none, and fail a call whose file is not there", async () => {
    const odd = [1, null, "list", {}, { kind: "object" }, { kind: "object", names: [1], small: {} }];
    for (const shape of [...odd, { kind: "object", names: ["a"], small: 1 }] as JsonValue[]) {
      const handle = keep("11-odd.json", "[1]", { type: "json", shape });
      expect(await value("return [typeof result.json, await result.text(), result];", handle)).toEqual([
        "function",
        "[1]",
        handle,
      ]);
    }
    const gone = {
      ...keep("12-gone.json", "[]", { shape: { kind: "list" } }),
      path: "/workspace/results/none",
    };
    const code = `try { await callTool("host", "get"); } catch (error) { return error instanceof Error; }`;
    const run = harness().value(`import { callTool } from "./client/index.ts";\n${code}`, {
      invoker: recordingInvoker(() => gone),
    });
    expect(await run).toBe(true);
  });

  it("keep working for a program that has changed the language", async () => {
    const handle = keep("5-note.txt", "note");
    const code = `Deno.open = Object.defineProperty = JSON.parse = Math.min = (() => { throw new Error("patched"); }) as any;
RegExp.prototype.exec = () => null; Uint8Array.prototype.subarray = () => { throw new Error("patched"); };
const again: any = await callTool("host", "get");
export default [await again.text(), await result.text()];`;
    expect(await value(code, handle)).toEqual(["note", "note"]);
  });
}

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@cem/core";
import { expect, it } from "vitest";
import { recordingInvoker, type Harness } from "./harness.ts";

const GET = `import { callTool } from "./client/index.ts";\nconst result: any = await callTool("host", "get");\n`;

/** Results that are kept as files, and reach the program as handles. */
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

  it("come in pages that cut no character", async () => {
    const text = "aé漢😀".repeat(50);
    const code = `let text = ""; let pages = 0; let offset: number | null = 0;
while (offset !== null) { const page = await result.page(offset, 7); text += page.text; offset = page.next; pages++; }
export default [text, pages > 60, (await result.page(1e9)).text];`;
    expect(await value(code, keep("3-pages.txt", text))).toEqual([text, true, ""]);
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

  it("keep working for a program that has changed the language", async () => {
    const handle = keep("5-note.txt", "note");
    const code = `Deno.open = Object.defineProperty = JSON.parse = Math.min = (() => { throw new Error("patched"); }) as any;
RegExp.prototype.exec = () => null; Uint8Array.prototype.subarray = () => { throw new Error("patched"); };
const again: any = await callTool("host", "get");
export default [await again.text(), await result.text()];`;
    expect(await value(code, handle)).toEqual(["note", "note"]);
  });
}

import type { JsonValue } from "@cem/core";
import type { Attack } from "./attack.ts";

const honest = (title: string, value: JsonValue, program: string): Attack => ({
  title,
  programs: () => program,
  with: "guards",
  value,
});

/** Programs that look like attacks and have to run, under every default guard. */
export const HONEST_PROGRAMS: readonly Attack[] = [
  honest(
    "words that are dangerous",
    5,
    `// rm -rf / ; cat /etc/passwd; eval("x")\nconst note = "To wipe a disk people run rm -rf /; eval is evil; passwd; child_process; 169.254.169.254"; const words = note.split(";"); return words.length;`,
  ),
  honest(
    "names that are dangerous",
    [3, "run"],
    `const evaluate = (text: string) => text.length; const process = { env: "run" }; class Command { run() { return process.env; } } return [evaluate("abc"), new Command().run()];`,
  ),
  honest(
    "files of its own",
    ["a", 1],
    `await Deno.mkdir("/workspace/made/deep", { recursive: true }); await Deno.writeTextFile("/workspace/made/deep/a.txt", "a"); const text = await Deno.readTextFile("made/deep/../deep/a.txt"); const names = [...Deno.readDirSync("/workspace/made/deep")].length; await Deno.remove("/workspace/made", { recursive: true }); return [text, names];`,
  ),
  honest(
    "a link within its workspace",
    "own",
    `await Deno.writeTextFile("/workspace/own.txt", "own"); try { Deno.removeSync("/workspace/alias.txt"); } catch {} try { await Deno.symlink("own.txt", "/workspace/alias.txt"); return await Deno.readTextFile("/workspace/alias.txt"); } catch { return "own"; }`,
  ),
  honest(
    "packing and unpacking",
    "hello ".repeat(100),
    `const through = (bytes: any, stream: any) => new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer(); const packed = await through("hello ".repeat(100), new CompressionStream("gzip")); return new TextDecoder().decode(await through(packed, new DecompressionStream("gzip")));`,
  ),
  honest(
    "keys of prototypes as data",
    { constructor: 1, toString: 2 },
    `import { echo } from "./servers/crm/index.ts"; return await echo({ constructor: 1, toString: 2 } as any);`,
  ),
  honest(
    "base64 and hexadecimal in arguments",
    "sent",
    `import { send } from "./servers/web/index.ts"; return await send({ text: btoa("an honest note that is long enough"), list: ["00ff10", "deadbeefdeadbeefdeadbeef"] });`,
  ),
  honest(
    "many calls at once",
    200,
    `import { echo } from "./servers/crm/index.ts"; return (await Promise.all(Array.from({ length: 200 }, (_, at) => echo({ at })))).length;`,
  ),
  honest(
    "a loop that ends, a pattern, recursion and a timer",
    [10000, true, 55],
    `let count = 0; while (true) { count += 1; if (count === 10_000) break; } const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2)); await new Promise((done) => setTimeout(done, 5)); return [count, /^(a+)b$/.test("aaab"), fib(10)];`,
  ),
  honest(
    "getters, proxies, classes and toJSON",
    { a: 1, b: 2 },
    `class Two { get b() { return 2; } toJSON() { return { a: new Proxy({ a: 1 }, {}).a, b: this.b }; } } return new Two();`,
  ),
  honest(
    "modules of node that are of use",
    [true, 64],
    `import path from "node:path"; import { createHash } from "node:crypto"; return [path.join("a", "..", "b") === "b", createHash("sha256").update("x").digest("hex").length];`,
  ),
  honest(
    "an error that is caught",
    "caught",
    `import { echo } from "./servers/crm/index.ts"; try { JSON.parse("{"); } catch { try { await Deno.readTextFile("/workspace/none"); } catch { return "caught"; } } return await echo({});`,
  ),
];

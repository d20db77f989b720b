import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";

const home = path.resolve(import.meta.dirname, "..");
let folder = "";
let blocks: string[] = [];

beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(path.join(folder, "node_modules", "@cem"), { recursive: true });
  await symlink(home, path.join(folder, "node_modules", "@cem", "tool-files"));
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  const readme = await readFile(path.join(home, "README.md"), "utf8");
  blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
});

/** Runs code in a folder that has the package installed. */
async function run(code: string): Promise<string> {
  const file = path.join(folder, "example.mjs");
  await writeFile(file, code);
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@cem/source", file], {
    cwd: folder,
  });
  return stdout;
}

describe("README", () => {
  it("shows what its first example really does", async () => {
    const [first = "", shown = ""] = blocks;
    expect(await run(first)).toBe(
      "[ 'get_weather.ts', 'index.ts', 'tools.lock.json' ]\n" +
        "get-weather description: Gets the weather of [-a-]{+any+} city.\n",
    );
    const file = await readFile(path.join(folder, "servers", "weather", "get_weather.ts"), "utf8");
    // The comments at their beginning differ.
    const code = (text: string): string => text.slice(text.indexOf("\n") + 1);
    expect(code(file)).toBe(code(shown));
  });

  it("prints the signature it says", async () => {
    expect(await run(blocks[2] ?? "")).toBe("add(input: { a: number }): Promise<unknown>\n");
  });
});

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { swapFolders } from "../../fixtures/swapped-folders.ts";
import {
  addPackageFinder,
  appendPrivately,
  importFromProject,
  isTemporaryFile,
  openHandle,
  removeFolder,
  replaceFile,
} from "./index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "cem-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (file: string): number => statSync(file).mode & 0o777;

describe("openHandle", () => {
  it("closes the file where handles can't be disposed of themselves, as with Yarn's Plug'n'Play", async () => {
    const file = path.join(folder, "a.txt");
    writeFileSync(file, "text");
    await using first = await openHandle(file);
    const handles = Object.getPrototypeOf(first) as FileHandle;
    const dispose = handles[Symbol.asyncDispose];
    Reflect.deleteProperty(handles, Symbol.asyncDispose);
    onTestFinished(() => void Object.assign(handles, { [Symbol.asyncDispose]: dispose }));
    const read = async (): Promise<FileHandle> => {
      await using handle = await openHandle(file);
      expect(await handle.readFile("utf8")).toBe("text");
      return handle;
    };
    expect((await read()).fd).toBe(-1);
  });
});

describe("replaceFile", () => {
  it("makes a private file in private folders, whatever the umask is", async () => {
    const before = process.umask(0);
    try {
      const file = path.join(folder, "a", "b", "c.json");
      await replaceFile(file, "new");
      expect(readFileSync(file, "utf8")).toBe("new");
      expect([modeOf(file), modeOf(path.dirname(file))]).toEqual([0o600, 0o700]);
    } finally {
      process.umask(before);
    }
  });

  it("takes the rights of others from a file that was there", async () => {
    const file = path.join(folder, "open.json");
    writeFileSync(file, "old");
    chmodSync(file, 0o666);
    await replaceFile(file, "new");
    expect(modeOf(file)).toBe(0o600);
    await replaceFile(file, "newer", { mode: 0o644 });
    expect(modeOf(file)).toBe(0o644);
  });

  it("replaces a link and leaves what it points to", async () => {
    const [file, victim] = [path.join(folder, "link"), path.join(folder, "victim")];
    writeFileSync(victim, "mine");
    symlinkSync(victim, file);
    await replaceFile(file, "new");
    expect([readFileSync(victim, "utf8"), readFileSync(file, "utf8")]).toEqual(["mine", "new"]);
    expect(lstatSync(file).isSymbolicLink()).toBe(false);
  });

  it("leaves nothing behind when it fails", async () => {
    await expect(replaceFile(folder, "new")).rejects.toBeInstanceOf(Error);
    expect(readdirSync(path.dirname(folder)).filter(isTemporaryFile)).toEqual([]);
  });
});

describe("appendPrivately", () => {
  it("appends to a file that only its owner may read", () => {
    const file = path.join(folder, "logs", "cem.log");
    appendPrivately(file, "one\n");
    chmodSync(file, 0o644);
    appendPrivately(file, "two\n");
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
    expect(modeOf(file)).toBe(0o600);
  });

  it("follows no link and waits for no pipe", () => {
    const [link, victim] = [path.join(folder, "link"), path.join(folder, "victim")];
    symlinkSync(victim, link);
    expect(() => appendPrivately(link, "x")).toThrow(/ELOOP/u);
    const pipe = path.join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    expect(() => appendPrivately(pipe, "x")).toThrow(/ENXIO|EINVAL/u);
    expect(readdirSync(folder)).not.toContain("victim");
  });
});

describe("removeFolder", () => {
  it("removes paths that are longer than the system takes, and folders that nobody may enter", async () => {
    const chain = (top: string): string => {
      let deepest = path.join(folder, top);
      for (let depth = 0; depth < 15; depth += 1) deepest = path.join(deepest, "d".repeat(250));
      mkdirSync(deepest, { recursive: true });
      return deepest;
    };
    const hostile = path.join(folder, "a");
    const deepest = chain("a");
    chain("b");
    renameSync(path.join(folder, "b"), path.join(deepest, "b"));
    mkdirSync(path.join(hostile, "closed", "within"), { recursive: true });
    chmodSync(path.join(hostile, "closed"), 0);
    await removeFolder(hostile);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(process.platform === "linux")("removes names that are no text", async () => {
    for (const place of [folder, path.join(folder, "sub"), path.join(folder, "sub", "below")]) {
      mkdirSync(place, { recursive: true });
      for (const last of [0xe9, 0xff])
        writeFileSync(Buffer.concat([Buffer.from(`${place}/f`), Buffer.of(last)]), "");
      mkdirSync(Buffer.concat([Buffer.from(`${place}/d`), Buffer.of(0xff)]));
    }
    await removeFolder(folder);
    expect(existsSync(folder)).toBe(false);
    mkdirSync(folder);
  });

  it("removes files and links as they are", async () => {
    writeFileSync(path.join(folder, "file"), "");
    symlinkSync(folder, path.join(folder, "link"));
    for (const name of ["file", "link", "none"]) await removeFolder(path.join(folder, name));
    expect(readdirSync(folder)).toEqual([]);
  });

  it("follows no link that a program puts in a folder's place meanwhile", async () => {
    const outside = path.join(folder, "outside");
    const home = path.join(folder, "home");
    await swapFolders({ workspace: path.join(home, "workspace"), outside, count: 120 }, { file: "" });
    await removeFolder(home);
    expect(readdirSync(folder)).toEqual(["outside"]);
    expect(readdirSync(outside)).toEqual(["key"]);
  });
});

it("imports an optional package from the project only where it is missing, not where it is broken", async () => {
  const [found, broken] = [path.join(folder, "found.mjs"), path.join(folder, "broken.mjs")];
  writeFileSync(found, "export const from = 'project';");
  writeFileSync(broken, "import 'not-installed-either';");
  onTestFinished(addPackageFinder(async () => found));
  const causeOf = (code: string): unknown => {
    const catching = `import(${JSON.stringify(code)}).catch(({ code, message }) => console.log(JSON.stringify({ code, message })))`;
    return JSON.parse(execFileSync(process.execPath, ["-e", catching], { encoding: "utf8" }));
  };
  const importing = (cause: unknown) =>
    importFromProject("not-installed", cause, () => new Error("absent", { cause }));
  expect(await importing(causeOf("not-installed"))).toMatchObject({ from: "project" });
  await expect(importing(causeOf(pathToFileURL(broken).href))).rejects.toThrow("absent");
});

it("finds beside a module only what `import` finds there, not what NODE_PATH has", () => {
  const beside = path.join(folder, "node_modules");
  for (const [where, name] of [
    [beside, "local"],
    [path.join(folder, "elsewhere"), "hoisted"],
  ] as const) {
    mkdirSync(path.join(where, name), { recursive: true });
    writeFileSync(path.join(where, name, "package.json"), JSON.stringify({ name, exports: "./index.mjs" }));
    writeFileSync(path.join(where, name, "index.mjs"), "");
  }
  const module = JSON.stringify(new URL("project-packages.ts", import.meta.url).href);
  const code = `const { findBeside } = await import(${module});
    const from = ${JSON.stringify(path.join(folder, "index.mjs"))};
    console.log(JSON.stringify(["local", "hoisted"].map((name) => findBeside(name, from) ?? null)));`;
  const found = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, NODE_PATH: path.join(folder, "elsewhere") },
    encoding: "utf8",
  });
  expect(JSON.parse(found)).toEqual([path.join(beside, "local", "index.mjs"), null]);
});

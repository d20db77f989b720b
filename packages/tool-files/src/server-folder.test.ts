import { mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { markGenerated, originOf } from "./generated-mark.ts";
import {
  listForeignModules,
  openServerFolder,
  readRegularFile,
  readServerFolder,
  writeFileAtomically,
} from "./server-folder.ts";

let folder = "";
const at = (name: string): string => path.join(folder, name);
beforeEach(async () => {
  folder = await temporaryFolder();
});

describe("openServerFolder", () => {
  it("makes the folder, and says where it is", async () => {
    const made = await openServerFolder(at("a/servers"), "math");
    expect(made).toBe(at("a/servers/math"));
    expect((await stat(made)).isDirectory()).toBe(true);
    expect(await openServerFolder(at("a/servers"), "math")).toBe(made);
  });

  it.each(["..", ".", "", "a/b", "a\0b"])("refuses the name %j", async (name) => {
    await expect(openServerFolder(folder, name)).rejects.toMatchObject({
      code: "TOOL_FILES_UNSAFE_FOLDER",
      details: { reason: expect.stringContaining("is not the name of a folder in") as string },
    });
  });

  it("refuses a file and a link", async () => {
    await writeFile(at("file"), "");
    await symlink(folder, at("link"));
    for (const name of ["file", "link"]) {
      await expect(openServerFolder(folder, name)).rejects.toMatchObject({
        code: "TOOL_FILES_UNSAFE_FOLDER",
        message: `The folder ${at(name)} can't be used: it is a link or a file.`,
      });
    }
  });

  it("says what else is wrong", async () => {
    await writeFile(at("file"), "");
    await expect(openServerFolder(at("file/servers"), "x")).rejects.toMatchObject({ code: "ENOTDIR" });
  });
});

describe("readServerFolder", () => {
  it("reads TypeScript and JSON in the folder itself, and removes what an interrupted write left", async () => {
    await writeFile(at("a.ts"), markGenerated("export {};\n"));
    await writeFile(at("B.JSON"), "{}");
    await writeFile(at("c.tsx"), "");
    await writeFile(at("a.ts.md"), "");
    await writeFile(at(".cem-0123456789abcdef.tmp"), "");
    await writeFile(at(".cem-0123456789abcdef.tmp.ts"), "");
    await mkdir(at("d.ts"));
    await symlink(at("a.ts"), at("e.ts"));
    const files = await readServerFolder(folder);
    expect(Object.fromEntries([...files].map(([name, { origin }]) => [name, origin]))).toEqual({
      "a.ts": "generated",
      "B.JSON": "foreign",
      "d.ts": "foreign",
      "e.ts": "foreign",
      ".cem-0123456789abcdef.tmp.ts": "foreign",
    });
    expect(files.get("e.ts")?.text).toBe("");
    expect(files.get("B.JSON")?.text).toBe("{}");
    expect(await readdir(folder)).not.toContain(".cem-0123456789abcdef.tmp");
  });
});

describe("listForeignModules", () => {
  it("names TypeScript files that were not generated", async () => {
    await writeFile(at("generated.ts"), markGenerated("export {};\n"));
    await writeFile(at("edited.ts"), `${markGenerated("export {};\n")}// edited\n`);
    await writeFile(at("mine.ts"), "");
    await writeFile(at("mine.json"), "{}");
    expect(await listForeignModules(folder)).toEqual(["mine.ts"]);
  });

  it("names none in a folder that does not exist, and fails for what is no folder", async () => {
    expect(await listForeignModules(at("none"))).toEqual([]);
    await writeFile(at("file"), "");
    await expect(listForeignModules(at("file"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });
});

describe("readRegularFile", () => {
  it("reads no link, no folder and nothing that is too large", async () => {
    await writeFile(at("file"), "text");
    await symlink(at("file"), at("link"));
    expect(await readRegularFile(at("file"))).toBe("text");
    await expect(readRegularFile(at("link"))).rejects.toMatchObject({ code: "ELOOP" });
    expect(await readRegularFile(folder)).toBe("");
    await truncate(at("file"), 64 * 1024 * 1024 + 1);
    expect(await readRegularFile(at("file"))).toBe("");
  });
});

describe("writeFileAtomically", () => {
  it("replaces a file and a link, and follows no link", async () => {
    await writeFile(at("file"), "old");
    await writeFile(at("outside"), "outside");
    await symlink(at("outside"), at("link"));
    for (const name of ["file", "link", "new"]) {
      await writeFileAtomically(folder, name, "new");
      expect(await readRegularFile(at(name))).toBe("new");
    }
    expect(await readFile(at("outside"), "utf8")).toBe("outside");
  });

  it("leaves nothing behind when it fails", async () => {
    await mkdir(at("folder"));
    await expect(writeFileAtomically(folder, "folder", "new")).rejects.toMatchObject({ code: "EISDIR" });
    expect(await readdir(folder)).toEqual(["folder"]);
  });
});

describe("originOf", () => {
  it("tells generated, edited and foreign files apart", () => {
    const text = markGenerated("export {};\n");
    expect(text.split("\n")[0]).toMatch(
      /^\/\/ @generated by @cem\/tool-files, sha256-[0-9a-f]{32}\. Made anew by "cem generate"; .*left alone\.$/,
    );
    expect(originOf(text)).toBe("generated");
    expect(originOf(`\uFEFF${text.replaceAll("\n", "\r\n")}`)).toBe("generated");
    expect(originOf(`${text} `)).toBe("edited");
    expect(originOf(`\n${text}`)).toBe("foreign");
    expect(originOf("export {};\n")).toBe("foreign");
  });
});

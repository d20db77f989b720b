import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { ignoreMissing, PRIVATE_FILE, PRIVATE_FOLDER } from "@cem/core/files";
import { parseSkillMarkdown, type SkillMarkdown } from "./skill-files.ts";

const MARKDOWN_FILE = "SKILL.md";
const CODE_FILE = "index.ts";
const TEST_FILE = "index.test.ts";
const CODE_FILES = [CODE_FILE, "index.mts", "index.js", "index.mjs"];

export interface SkillFolder {
  markdown: SkillMarkdown;
  code: string;
  test: string;
}

/** The names of the folders in a folder that may be skills, sorted. */
export async function skillNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(ignoreMissing);
  return (entries ?? [])
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .toSorted();
}

/** Reads a skill. Returns `undefined` if the folder has neither a SKILL.md nor code. */
export async function readSkillFolder(folder: string): Promise<SkillFolder | undefined> {
  const names = await readdir(folder).catch(ignoreMissing);
  const codeFile = CODE_FILES.find((one) => names?.includes(one));
  const [markdown, test, code] = await Promise.all(
    [MARKDOWN_FILE, TEST_FILE, codeFile].map(
      async (file) => file && readFile(path.join(folder, file), "utf8").catch(ignoreMissing),
    ),
  );
  if (markdown === undefined && code === undefined) return undefined;
  return { markdown: parseSkillMarkdown(markdown ?? ""), code: code ?? "", test: test ?? "" };
}

export type SkillFiles = Record<"markdown" | "code" | "test", string>;

/** Replaces a skill's folder atomically. The previous one is moved to `keepAt`, or else removed. */
export async function replaceSkillFolder(
  folder: string,
  { markdown, code, test }: SkillFiles,
  keepAt?: string,
): Promise<void> {
  const parent = path.dirname(folder);
  const fresh = path.join(parent, `.new-${randomBytes(6).toString("hex")}`);
  await mkdir(fresh, { recursive: true, mode: PRIVATE_FOLDER });
  try {
    const options = { mode: PRIVATE_FILE, flag: "wx" };
    await writeFile(path.join(fresh, CODE_FILE), code, options);
    await writeFile(path.join(fresh, TEST_FILE), test, options);
    await writeFile(path.join(fresh, MARKDOWN_FILE), markdown, { ...options, flush: true });
    if (keepAt === undefined) await rm(folder, { recursive: true, force: true });
    else if (existsSync(folder)) {
      await mkdir(path.dirname(keepAt), { recursive: true, mode: PRIVATE_FOLDER });
      await rm(keepAt, { recursive: true, force: true });
      await rename(folder, keepAt);
    }
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
}

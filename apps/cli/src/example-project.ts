import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CemError } from "@cem/core";

const EXAMPLES = "examples";
const PARTS = [EXAMPLES, "servers", "skills"];
const WHOLE = "code-execution-mcp";
const FROM = ' from "';
/** The package at the beginning of what is imported: neither a file nor a part of Node. */
const PACKAGE = /^((?:@[^/"]+\/)?[^./"][^/":]*)["/]/u;

/** A program that shows how the packages are used. */
export interface Example {
  /** Two digits. */
  id: string;
  name: string;
  file: string;
  /** Its first comment. */
  about: string;
  /** What it imports. */
  packages: string[];
}

/** Where examples, sample servers and skills are: beside the built command, or in the repository. */
function samplesFolder(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const folders = [path.join(here, "samples"), path.join(here, "../../..")];
  const found = folders.find((folder) => existsSync(path.join(folder, EXAMPLES)));
  if (found === undefined) throw new CemError("CONFIG_NOT_FOUND", "This installation has no examples.");
  return found;
}

/** The numbered examples, in order. */
export async function listExamples(): Promise<Example[]> {
  const folder = path.join(samplesFolder(), EXAMPLES);
  const files = (await readdir(folder)).filter((file) => /^\d\d-.*\.ts$/u.test(file)).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(path.join(folder, file), "utf8");
      const about = /^\/\/ (.*)$/mu.exec(text)?.[1] ?? "";
      const packages = packagesIn(text);
      return { id: file.slice(0, 2), name: file.slice(3, -".ts".length), file, about, packages };
    }),
  );
}

/** The packages that a program imports from. */
function packagesIn(text: string): string[] {
  const imports = text.split("\n").filter((line) => line.startsWith("import ") && line.includes(FROM));
  const names = imports.map((line) => PACKAGE.exec(line.slice(line.lastIndexOf(FROM) + FROM.length))?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** The packages that an example imports and that are not installed, here or beside this command. */
export function missingPackages({ packages }: Example): string[] {
  return packages.filter((name) => installedPackage(name) === undefined);
}

/** The folder of a package: this command's, one that the whole brings, or one that is installed in the working folder. */
function installedPackage(name: string): string | undefined {
  const whole = findPackageJSON(WHOLE, import.meta.url);
  const bases = [import.meta.url, whole, path.join(process.cwd(), "package.json")];
  for (const base of bases) {
    const manifest = base === undefined ? undefined : manifestOf(name, base);
    if (manifest !== undefined) return path.dirname(manifest);
  }
  return undefined;
}

/** `findPackageJSON` throws where there is none. */
function manifestOf(name: string, base: string): string | undefined {
  try {
    return findPackageJSON(name, base);
  } catch {
    return undefined;
  }
}

/**
 * Makes a project with the examples, the sample servers and skills, in which these examples find the packages
 * that this command has.
 *
 * @returns its folder, and what removes it.
 */
export async function makeExampleProject(
  examples: readonly Example[],
): Promise<{ folder: string; remove: () => Promise<void> }> {
  const base = await mkdtemp(path.join(os.tmpdir(), "cem-example-"));
  // The packages stand above the project: what npx starts is none of theirs.
  const folder = path.join(base, "project");
  const samples = samplesFolder();
  for (const part of PARTS) {
    await cp(path.join(samples, part), path.join(folder, part), {
      recursive: true,
      filter: (file) => path.basename(file) !== "node_modules",
    });
  }
  await writeFile(path.join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  for (const name of new Set(examples.flatMap(({ packages }) => packages))) {
    const installed = installedPackage(name);
    if (installed === undefined) continue;
    const link = path.join(base, "node_modules", name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(installed, link, "junction");
  }
  return { folder, remove: () => rm(base, { recursive: true, force: true }) };
}

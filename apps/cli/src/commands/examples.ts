import path from "node:path";
import os from "node:os";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { fileURLToPath } from "node:url";
import { CemError } from "@cem/core";
import { EXIT_FAILED, EXIT_OK } from "../errors.ts";
import type { Answer, CommandContext } from "../io/command-context.ts";
import { renderPairs } from "../render/rows.ts";
import { defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { actionArgument } from "../command/options.ts";

const ACTIONS = ["list", "run"] as const;

/** `cem examples`: lists programs that show how the packages are used, or runs them. */
export const examples = defineCommand<{ action: (typeof ACTIONS)[number]; ids: string[] }>({
  name: "examples",
  group: "runs",
  about: "List and run programs that show how the packages are used",
  help: `
Each runs in a folder of its own with the sample servers and skills, which is removed afterwards. MCP_MODE=true runs
05, 06, 08, 12 and 14 against a server: the one that MCP_SERVER_URL names, else one that is started for them.

Examples:
  cem examples
  cem examples run 05
  MCP_MODE=true cem examples run 05 08`,
  declare: (command) =>
    command
      .addArgument(actionArgument(ACTIONS, "list"))
      .argument("[ids...]", "for run: their numbers; all without one"),
  run: manageExamples,
});

async function manageExamples(
  { action, ids, options }: Given<{ action: (typeof ACTIONS)[number]; ids: string[] }>,
  context: CommandContext,
): Promise<Answer> {
  const all = await listExamples();
  if (action === "list") return listed(all);
  const named = ids.map((id) => find(id, all));
  for (const one of named) requirePackages(one);
  const isLeftOut = (one: Example): boolean => one.name === SERVER || missingPackages(one).length > 0;
  const chosen = ids.length === 0 ? all.filter((one) => !isLeftOut(one)) : named;
  const isLive = !options.json && !options.quiet;
  const results: { example: string; output: string; exitCode: number }[] = [];
  const project = await makeExampleProject(chosen);
  try {
    for (const { id, name, file, about } of chosen) {
      if (isLive) context.io.stdout.write(`\n  ${id}  ${about}\n\n`);
      const ran = await run(path.join(project.folder, "examples", file), project.folder, context, isLive);
      results.push({ example: `${id}-${name}`, ...ran });
      if (context.signal.aborted) break;
    }
  } finally {
    await project.remove();
  }
  const failed = results.filter(({ exitCode }) => exitCode !== 0);
  return {
    exitCode: failed.length === 0 ? EXIT_OK : EXIT_FAILED,
    data: { status: failed.length === 0 ? "success" : "error", results },
    report: () =>
      failed.length === 0 ? [] : ["", `  ${failed.map(({ example }) => example).join(", ")} failed.`],
    brief: () => results.map(({ output }) => output.trimEnd()).join("\n"),
  };
}

/** @throws CemError `USAGE` where a package is missing that only this example needs. */
function requirePackages(example: Example): void {
  const missing = missingPackages(example);
  if (missing.length === 0) return;
  throw new CemError(
    "USAGE",
    `Example ${example.id} needs ${missing.join(", ")}, which ${missing.length === 1 ? "is" : "are"} not installed here. Install and try again:  npm install ${missing.join(" ")}`,
    { details: { missing } },
  );
}

/** It serves until it is stopped. */
const SERVER = "mcp-server";
/** In the repository nothing is built. */
const FROM_SOURCES = import.meta.filename.endsWith(".ts") ? ["--conditions=@cem/source"] : [];

function listed(all: readonly Example[]): Answer {
  return {
    exitCode: EXIT_OK,
    data: { status: "success", examples: all },
    report: (style) => [
      "",
      ...renderPairs(
        all.map(({ id, name, about }) => [`${id}  ${name}`, about] as const),
        "  ",
        style,
      ),
      "",
      style.colors.dim("  cem examples run 05 runs one, cem examples run all of them."),
    ],
    brief: () => all.map(({ id, name }) => `${id}-${name}`).join("\n"),
  };
}

function find(id: string, all: readonly Example[]): Example {
  const number = id.padStart(2, "0");
  const found = all.find((one) => [one.id, one.name, `${one.id}-${one.name}`, one.file].includes(number));
  if (found !== undefined) return found;
  const known = all.map((one) => one.id).join(", ");
  throw new CemError("USAGE", `There is no example ${JSON.stringify(id)}. There are: ${known}.`);
}

/** Runs an example in a process of its own, as a reader would, with what this process was started with. */
async function run(
  file: string,
  cwd: string,
  { io, signal }: CommandContext,
  isLive: boolean,
): Promise<{ output: string; exitCode: number }> {
  const child = spawn(process.execPath, [...FROM_SOURCES, file], {
    cwd,
    env: { LOG_LEVEL: "WARNING", ...process.env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (isLive) io.stdout.write(text);
  });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { output, exitCode: code ?? EXIT_FAILED };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

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
  /** Packages that it imports. */
  packages: string[];
}

/** Where examples, sample servers and skills are: beside the built command, or in the repository. */
function samplesFolder(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const folders = [path.join(here, "samples"), path.join(here, "../../../..")];
  const found = folders.find((folder) => existsSync(path.join(folder, EXAMPLES)));
  if (found === undefined) throw new CemError("CONFIG_NOT_FOUND", "This installation has no examples.");
  return found;
}

/** The numbered examples, in order. */
async function listExamples(): Promise<Example[]> {
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
function missingPackages({ packages }: Example): string[] {
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
 * @returns its folder, and a function that removes it.
 */
async function makeExampleProject(
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

import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { findProblems } from "@cem/config/edit";
import { parseForm } from "@cem/forms";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { parseCommandLine } from "../apps/cli/src/command/command-line.ts";
import { COMMANDS } from "../apps/cli/src/commands/all.ts";
import { parseWorkflow } from "../packages/workflows/src/definition/parse-workflow.ts";
import { blocksOf, DOCUMENTS, fileNameOf, proseOf, root } from "./scripts/blocks.ts";
import type { Block } from "./scripts/blocks.ts";
import { commandsOf } from "./scripts/shell.ts";
import type { ShellCommand } from "./scripts/shell.ts";

const BLOCKS = DOCUMENTS.flatMap(blocksOf);
/** Output, drawings and messages: `text`, or a fence without a language. `diff` is of a change that was tried. */
const LANGUAGES = new Set(["ts", "sh", "json", "yaml", "dockerfile", "diff", "text", ""]);
/** Programs of other people that pages tell to run; their options are theirs. */
const OTHER_PROGRAMS = new Set(
  "apt-get brew cat cd cp curl docker echo export git grep helm jq kubectl mkdir open openssl redis-server rm source".split(
    " ",
  ),
);

const inLanguage = (language: string): Block[] => BLOCKS.filter((block) => block.language === language);
const placeOf = ({ document, line }: Block): string => `${document}:${line}`;

/** The problems of each block, by its place. */
async function problemsOf(
  blocks: readonly Block[],
  check: (block: Block) => unknown,
): Promise<Record<string, string>> {
  const problems: Record<string, string> = {};
  for (const block of blocks) {
    try {
      await check(block);
    } catch (error) {
      problems[placeOf(block)] = error instanceof Error ? error.message : String(error);
    }
  }
  return problems;
}

/** @throws CemError `USAGE` where `cem` has no such command, option or choice. */
function assertParsed(words: readonly string[]): void {
  parseCommandLine(words, COMMANDS, false);
}

/** The arguments that a line of shell gives to `cem`, by whichever way it starts it. */
function argumentsOfCem(command: ShellCommand): readonly string[] | undefined {
  const line = command.join(" ");
  const [, start = ""] =
    /^(cem|npm start(?: --silent)?(?: --)?|npx(?: -y| --yes)? @cem\/cli|node scripts\/start\.mjs)(?: |$)/u.exec(
      line,
    ) ?? [];
  return start === "" ? undefined : command.slice(start.split(" ").length);
}

function scriptsBeside(document: string): Set<string> {
  const files = [path.join(root, "package.json"), path.join(root, path.dirname(document), "package.json")];
  const manifests = files
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, "utf8")));
  const commands = globSync("node_modules/.bin/*", { cwd: root }).map((file) => path.basename(file));
  return new Set([
    ...manifests.flatMap(({ scripts = {} }) => Object.keys(scripts)),
    ...commands,
    "exec",
    "install",
    "pack",
    "turbo",
  ]);
}

function assertCommand(command: ShellCommand, document: string): void {
  const [program = "", ...rest] = command;
  const ofCem = argumentsOfCem(command);
  if (ofCem !== undefined) return assertParsed(ofCem);
  if (OTHER_PROGRAMS.has(program)) return;
  const [first = "", second = ""] = rest.filter((word) => !word.startsWith("-"));
  if (program === "node") {
    const places = [root, path.join(root, path.dirname(document))];
    if (blocksOf(document).some((block) => fileNameOf(block) === first)) return;
    if (first.startsWith("dist/") || places.some((place) => existsSync(path.join(place, first)))) return;
    throw new Error(`There is no file ${first}.`);
  }
  if (program === "npm" && ["install", "init", "test", "view", "ping", "pack", "pkg"].includes(first)) return;
  if (program === "npx" && !first.startsWith("pnpm")) return;
  const script = first === "run" || first.startsWith("pnpm@") ? second : first;
  if (["npm", "pnpm", "npx"].includes(program)) {
    if (scriptsBeside(document).has(script)) return;
    throw new Error(`There is no script ${script}.`);
  }
  throw new Error(`Nothing here knows the program ${program}.`);
}

/** @throws Error where what stands in a configuration of an MCP client starts `cem` in a way that it does not take. */
function assertClients(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const { command, args } = value as { command?: unknown; args?: unknown };
  if (typeof command === "string" && Array.isArray(args)) {
    const ofCem = argumentsOfCem([command, ...args.map(String)]);
    if (ofCem !== undefined) assertParsed(ofCem);
  }
  for (const member of Object.values(value)) assertClients(member);
}

async function assertYaml({ code, document }: Block): Promise<void> {
  const [error] = parseAllDocuments(code).flatMap((one) => one.errors);
  if (error !== undefined) throw error;
  const data: unknown = parse(code);
  if (typeof data !== "object" || data === null) return;
  if ("fields" in data) parseForm(code);
  else if ("steps" in data) parseWorkflow({ text: code, origin: document });
  else if (!("services" in data) && !("jobs" in data) && !("scrape_configs" in data)) {
    const problems = await findProblems(code, "config.yaml");
    if (problems.length > 0)
      throw new Error(problems.map(({ path: at, message }) => `${at} ${message}`).join("\n"));
  }
}

describe("the blocks of the pages", () => {
  it("are in a language that is checked", () => {
    expect(BLOCKS.filter(({ language }) => !LANGUAGES.has(language)).map(placeOf)).toEqual([]);
    expect(BLOCKS.length).toBeGreaterThan(150);
  });

  it("parse, where they are JSON, and start cem as it takes it", async () => {
    expect(await problemsOf(inLanguage("json"), ({ code }) => assertClients(JSON.parse(code)))).toEqual({});
  });

  it("are valid configurations, workflows and forms, where they are YAML", async () => {
    expect(await problemsOf(inLanguage("yaml"), assertYaml)).toEqual({});
  });

  it("have commands, options and scripts that there are, where they are shell", async () => {
    const check = ({ code, document }: Block): void => {
      for (const command of commandsOf(code)) assertCommand(command, document);
    };
    expect(await problemsOf(inLanguage("sh"), check)).toEqual({});
    const shown = [...inLanguage("text"), ...inLanguage("")].map((block) => ({
      ...block,
      code: [...block.code.matchAll(/^\$ (.+)$/gmu)].map(([, line]) => `${line}\n`).join(""),
    }));
    expect(await problemsOf(shown, check)).toEqual({});
  });
});

const FOLDERS = /^(?:apps|docs|examples|packages|scripts)\//u;

/** The repository's files that a page names: in code spans, and as targets of links. */
function filesNamedIn(document: string): string[] {
  const text = proseOf(document);
  const spans = [...text.matchAll(/`([^`\s]+)`/gu)].map(([, name = ""]) => name);
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/gu)].map(([, target = ""]) =>
    // A page of the site names its public files from the site's root.
    target.startsWith("/") ? path.join("docs/public", target) : path.join(path.dirname(document), target),
  );
  // The packages' READMEs name files from their own folder; their links are checked.
  const isOfRepository = /^(?:docs\/|[A-Z]+\.md$)/u.test(document);
  const written = isOfRepository ? spans.filter((name) => FOLDERS.test(name) && !/[<>*…{}]/u.test(name)) : [];
  return [...new Set([...written, ...links])];
}

/** Kinds of Kubernetes that a page recommends, and a function of the Python original. */
const NAMES_OF_OTHERS = new Set(["SandboxWarmPool", "call_tool"]);
/** Names the classes and modules of the Python original. */
const ABOUT_OTHER_CODE = "docs/how-to/migrate-from-python.md";

const sources = globSync(
  "{packages,apps,scripts,servers,skills,examples,docs}/**/*.{ts,mjs,json,yaml,js,sh,sql}",
  {
    cwd: root,
    exclude: (name) => /(?:^|\/)(?:node_modules|dist|\.cem|\.vitepress)$/u.test(name),
  },
);
/** Every word in the sources, and the end of every file's path: what a page may name as its code. */
const known = new Set<string>();
for (const file of [...sources, ...globSync("*.{ts,json,yaml}", { cwd: root })]) {
  for (const word of readFileSync(path.join(root, file), "utf8").match(/[\w$]+/gu) ?? []) known.add(word);
  const parts = file.split("/");
  for (const at of parts.keys()) known.add(parts.slice(at).join("/"));
}

/** The names in a page's prose that look like those of code: `camelCase`, `PascalCase`, `a-file.ts`. */
function namesOfCode(document: string): string[] {
  const spans = [...proseOf(document).matchAll(/`([^`\n]+)`/gu)].map(([, span = ""]) => span);
  return spans.flatMap((span) => {
    if (/^[\w-]+\.(?:ts|mjs|sql)$/u.test(span)) return [span];
    // Tools and skills of the reader are in folders of these names.
    if (/^(?!servers\/|skills\/)[\w-]+(?:\/[\w-]+)+\.ts$/u.test(span)) return [span];
    const [, names = "", call] = /^([\w$.]+)(\(.*\))?$/u.exec(span) ?? [];
    return names.split(".").filter((name) => call !== undefined || /[a-z][A-Z]/u.test(name));
  });
}

/** Of commands that a page names, those that `cem` does not take. */
function wrongCommands(spans: readonly string[], document: string): string[] {
  return spans.filter((span) => {
    if (/…|\.\.\.|\||^cem (?:help )?<\w+>/u.test(span)) return false;
    try {
      for (const command of commandsOf(span)) assertParsed(command.slice(1));
      return false;
    } catch (error) {
      // A page may name a command without its arguments, and one that a plugin adds.
      const isNamed = error instanceof Error && /missing required argument/iu.test(error.message);
      return !isNamed && !document.startsWith("examples/plugins/");
    }
  });
}

describe("the text of the pages", () => {
  it.each(DOCUMENTS.filter((document) => document !== ABOUT_OTHER_CODE))(
    "names only code that is there, in %s",
    (document) => {
      const isUnknown = (name: string): boolean => !known.has(name) && !NAMES_OF_OTHERS.has(name);
      expect(namesOfCode(document).filter(isUnknown)).toEqual([]);
    },
  );

  it.each(DOCUMENTS)("names only files that are there, in %s", (document) => {
    expect(filesNamedIn(document).filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  });

  it.each(DOCUMENTS)("names commands of cem that there are, in %s", (document) => {
    const spans = [...proseOf(document).matchAll(/`(cem [^`\n]+)`/gu)].map(([, span = ""]) => span);
    expect(wrongCommands(spans, document)).toEqual([]);
  });

  it("names commands of cem that there are, in the console", () => {
    const files = globSync("packages/mcp-server/page/*.tsx", { cwd: root });
    const sources = files.map((file) => readFileSync(path.join(root, file), "utf8")).join("");
    const spans = [...sources.matchAll(/<code>(cem [^<]+)<\/code>/gu)].map(([, span = ""]) =>
      span
        .replaceAll(/\{[^}]+\}/gu, "x")
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">"),
    );
    expect(spans.length).toBeGreaterThan(3);
    expect(wrongCommands(spans, "the console")).toEqual([]);
  });
});

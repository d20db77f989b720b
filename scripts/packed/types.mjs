// Type checks projects that import every entry of every package from its tarball, declarations of libraries included,
// with the options that strangers have: strict, with and without exactOptionalPropertyTypes.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { bin } from "../setup.mjs";
import { tarballsFor } from "./tarballs.mjs";

const run = promisify(execFile);
const MAX_PROBLEMS = 20;
/** A problem in a file of a library. */
const FOREIGN = /^\S*node_modules\/(?!(?:\S*\/)?(?:@cem|code-execution-mcp)\/)/u;
const NODE_TYPES = "24.19.2";
const AI = "^7.0.0";
const STRICT = {
  strict: true,
  skipLibCheck: false,
  noEmit: true,
  target: "es2024",
  // "dom" is what declarations of libraries take for granted that run in browsers too.
  lib: ["esnext", "dom", "dom.asynciterable"],
  module: "nodenext",
  types: ["node"],
};
/** A program with the tools of `@cem/ai`, as one is written with the AI SDK of either version. */
const AI_PROGRAM = `import { executeCodeTool, searchToolsTool } from "@cem/ai";
import type { Agent } from "@cem/core";
import { generateText, type LanguageModel } from "ai";

export async function ask(agent: Agent, model: LanguageModel): Promise<string> {
  const tools = { run: await executeCodeTool(agent), search: searchToolsTool(agent) };
  return (await generateText({ model, prompt: "Which city is the warmest?", tools })).text;
}
`;

/** The projects that are checked: every package, also without what is optional, and the entry for the AI SDK with its earlier version. */
const PROJECTS = [
  { name: "types", only: undefined, versions: { ai: AI } },
  { name: "types without optional packages", only: undefined },
  { name: "types with ai 6", only: "@cem/ai", versions: { ai: "^6.0.0" } },
];

/**
 * @param install - Installs what a project's package.json names, with these tarballs for ours.
 * @returns the lines of the compiler, by project.
 */
export async function checkTypes(packages, folder, install) {
  const found = [];
  for (const { name, only, versions } of PROJECTS) {
    const project = path.join(folder, name.replaceAll(" ", "-"));
    mkdirSync(project, { recursive: true });
    const chosen = [...packages.values()].filter((one) => only === undefined || one.name === only);
    const tarballs = {};
    for (const one of chosen) tarballsFor(one, packages, tarballs);
    const typed = only === undefined && versions !== undefined ? chosen.map(typedPeersOf) : [];
    const dependencies = {
      ...Object.assign({}, ...typed),
      ...versions,
      "@types/node": NODE_TYPES,
      ...tarballs,
    };
    write(project, "package.json", JSON.stringify({ private: true, type: "module", dependencies }));
    const entries = only === undefined ? chosen.map(manifestOf).flatMap(entriesOf) : [only];
    write(
      project,
      "entries.ts",
      entries.map((entry, at) => `export * as e${at} from "${entry}";\n`).join(""),
    );
    // The AI SDK brings packages that are optional for ours.
    write(project, "ask.ts", versions === undefined ? "" : AI_PROGRAM);
    await install(project, tarballs, "--ignore-scripts");
    for (const exactOptionalPropertyTypes of [false, true]) {
      const compilerOptions = { ...STRICT, exactOptionalPropertyTypes };
      write(project, "tsconfig.json", JSON.stringify({ compilerOptions, files: ["entries.ts", "ask.ts"] }));
      const lines = await compile(project);
      const title = `${name}${exactOptionalPropertyTypes ? ", exactOptionalPropertyTypes" : ""}, ${entries.length} entries`;
      found.push({ title, problems: lines });
    }
  }
  return found;
}

function manifestOf(one) {
  return JSON.parse(readFileSync(path.join(one.folder, "package.json"), "utf8"));
}

/** The packages that its declarations take from those who install it, in the versions of its own tests. */
function typedPeersOf(one) {
  const { peerDependencies = {}, devDependencies = {}, dependencies = {} } = manifestOf(one);
  const own = { ...peerDependencies, ...devDependencies, ...dependencies };
  const dist = path.join(one.folder, "dist");
  const text = readdirSync(dist, { recursive: true })
    .filter((file) => file.endsWith(".d.ts"))
    .map((file) => readFileSync(path.join(dist, file), "utf8"))
    .join("\n");
  const names = Object.keys(peerDependencies).filter((name) => text.includes(`"${name}`));
  return Object.fromEntries(names.map((name) => [name, own[name]]));
}

function entriesOf({ name, exports = {} }) {
  return Object.entries(exports)
    .filter(([, target]) => typeof target === "object" && "types" in target)
    .map(([entry]) => path.posix.join(name, entry));
}

/** Problems of the project's files and of our declarations. What libraries get wrong themselves is theirs to mend. */
async function compile(cwd) {
  try {
    await run(bin("tsc"), ["-p", ".", "--pretty", "false"], { cwd, maxBuffer: 64 * 1024 * 1024 });
    return [];
  } catch (error) {
    const problems = `${error.stdout}${error.stderr}`.trim().split(/\n(?! )/u);
    return problems.filter((problem) => !FOREIGN.test(problem)).slice(0, MAX_PROBLEMS);
  }
}

function write(project, file, text) {
  writeFileSync(path.join(project, file), text);
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { CemError } from "@cem/core";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { listExamples, makeExampleProject, missingPackages } from "../example-project.ts";
import type { Example } from "../example-project.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { renderPairs } from "../render-rows.ts";

/** `cem examples`: lists programs that show how the packages are used, or runs them. */
export async function manageExamples(
  { action, ids, options }: InvocationOf<"examples">,
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

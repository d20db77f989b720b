import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CemError } from "@cem/core";
import { onTestFinished } from "vitest";
import { type ConfigProblem, loadConfig, type LoadConfigOptions, type LoadedConfig } from "../src/index.ts";

/** A folder with these files, gone after the test. */
export async function folderWith(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "cem-config-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

/** Loads this config.yaml in a folder of its own that is trusted, with an empty environment. */
export async function load(
  yaml: string | Uint8Array,
  options: LoadConfigOptions = {},
): Promise<LoadedConfig> {
  return loadConfig({
    cwd: await folderWith({ "config.yaml": yaml }),
    env: {},
    trustFolder: true,
    ...options,
  });
}

export async function failure(loading: Promise<unknown>): Promise<CemError> {
  const thrown = await loading.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!CemError.isInstance(thrown)) throw new Error("expected a CemError", { cause: thrown });
  return thrown;
}

/** The problems of a config.yaml. */
export async function problems(
  yaml: string | Uint8Array,
  options: LoadConfigOptions = {},
): Promise<ConfigProblem[]> {
  const error = await failure(load(yaml, options));
  return error.details["problems"] as ConfigProblem[];
}

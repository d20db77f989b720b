import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { withFileLock } from "@cem/core/files";

const VERSION = "4.3.1";
const PACKAGE = path.resolve(import.meta.dirname, "..", "..");
const PNPM = path.resolve(PACKAGE, "..", "..", "node_modules", ".bin", "pnpm");
const CACHE = path.join(PACKAGE, "node_modules", ".cache");
const FOLDER = path.join(CACHE, `transformers-${VERSION}`);
const LIBRARY = path.join(FOLDER, "node_modules/@huggingface/transformers/dist/transformers.node.mjs");
const MAX_WAIT_MS = 240_000;

/**
 * Installs `@huggingface/transformers` once, for the tests of all packages, and returns the URL to import: as a
 * dependency, everybody would have to install its 330 MB.
 */
export async function installTransformers(): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const busy = (): Error => new Error("Another process is installing @huggingface/transformers.");
  const installOnce = async (): Promise<void> => {
    if (!existsSync(LIBRARY)) await install();
  };
  await withFileLock(path.join(CACHE, "installing.lock"), installOnce, { waitMs: MAX_WAIT_MS, busy });
  return pathToFileURL(LIBRARY).href;
}

async function install(): Promise<void> {
  const fresh = await mkdtemp(path.join(CACHE, "installing-"));
  const manifest = { private: true, dependencies: { "@huggingface/transformers": VERSION } };
  await writeFile(path.join(fresh, "package.json"), JSON.stringify(manifest));
  await writeFile(
    path.join(fresh, "pnpm-workspace.yaml"),
    `pmOnFail: ignore
allowBuilds:
  onnxruntime-node: false
  protobufjs: false
  sharp: false
overrides:
  "@huggingface/transformers>onnxruntime-web": "-"
`,
  );
  await promisify(execFile)(PNPM, ["install", "--ignore-scripts"], { cwd: fresh });
  await rename(fresh, FOLDER);
}

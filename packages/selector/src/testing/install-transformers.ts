import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const VERSION = "4.3.1";
const PACKAGE = path.resolve(import.meta.dirname, "..", "..");
const PNPM = path.resolve(PACKAGE, "..", "..", "node_modules", ".bin", "pnpm");
const MAX_WAIT_MS = 120_000;
const LIBRARY = "node_modules/@huggingface/transformers/dist/transformers.node.mjs";

/**
 * Installs `@huggingface/transformers` once, for the tests only, and returns the URL to import: as a dependency,
 * everybody would have to install its 330 MB.
 */
export async function installTransformers(): Promise<string> {
  const cache = path.join(PACKAGE, "node_modules", ".cache");
  const folder = path.join(cache, `transformers-${VERSION}`);
  if (!existsSync(path.join(folder, LIBRARY))) {
    await mkdir(cache, { recursive: true });
    // The tests of another package may be at it: twice at once takes twice as long.
    const turn = path.join(cache, `installing-${VERSION}`);
    const isFirst = await mkdir(turn).then(
      () => true,
      () => false,
    );
    const latestAt = Date.now() + MAX_WAIT_MS;
    while (!isFirst && !existsSync(path.join(folder, LIBRARY)) && Date.now() < latestAt) await sleep(500);
    if (existsSync(path.join(folder, LIBRARY))) return pathToFileURL(path.join(folder, LIBRARY)).href;
    const fresh = await mkdtemp(path.join(cache, "installing-"));
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
    // Another test may have been faster.
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }));
  }
  return pathToFileURL(path.join(folder, LIBRARY)).href;
}

import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { bundlePage } from "./page-build.ts";

const folder = path.resolve(import.meta.dirname, "../dist/page");
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const [name, contents] of await bundlePage()) await writeFile(path.join(folder, name), contents);

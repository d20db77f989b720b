// The packages whose tests `npm test` runs in one process, with those of the repository: to start a test runner for each and
// to load what most of them import took longer than many of the tests. Runs on Node 20.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Their tests take so long that they run beside the others, each package in a process of its own. */
const LARGE = new Set(["mcp-client", "mcp-server"]);
const SHARED_CONFIG = `export { default } from "../../vitest.base.ts";`;

/** Their folders below the root: those of packages that configure nothing of their own for their tests. */
export function findSmallPackages(root) {
  return ["packages", "apps", "scripts"]
    .flatMap((parent) => readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => !LARGE.has(path.basename(folder)))
    .filter((folder) => {
      const config = path.join(root, folder, "vitest.config.ts");
      return existsSync(config) && readFileSync(config, "utf8").trim() === SHARED_CONFIG;
    });
}

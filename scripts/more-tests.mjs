// The test files of `npm run test:more`: those that `npm test` leaves out for their time (*.slow.test.ts), and those that need, or
// use where it is there, a program beyond Node (bubblewrap, Redis, a browser). Runs on Node 20.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const USES_TOOLS = /\b(?:describeWith|isInstalled|availableBackends|findCandidates)\(/u;

/** Their paths below a package's folder. */
export function findMoreTests(folder) {
  const sources = path.join(folder, "src");
  const nested = existsSync(sources)
    ? readdirSync(sources, { recursive: true }).map((file) => `src/${file.replaceAll("\\", "/")}`)
    : [];
  return [...nested, ...readdirSync(folder)]
    .filter((file) => file.endsWith(".test.ts") && !file.endsWith(".long.test.ts"))
    .filter(
      (file) =>
        file.endsWith(".slow.test.ts") || USES_TOOLS.test(readFileSync(path.join(folder, file), "utf8")),
    );
}

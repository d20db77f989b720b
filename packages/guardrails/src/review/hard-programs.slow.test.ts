import { describe, expect, it } from "vitest";
import { HARD_PROGRAMS } from "../../../../packages/program/fixtures/hard-programs.ts";
import { createGuard } from "../guard.ts";

const programs = Object.entries(HARD_PROGRAMS).map(([name, make]) => ({ name, make }));
const LARGE_CHARACTERS = 100_000;
/** Of processor time. The aim is a second. */
const MAX_MS = 5_000;

/** Those that are the hardest for a rule. */
const LARGE = new Set([
  "path that grows",
  "text that doubles",
  "uses after each assignment",
  "constants of constants",
  "a cycle through all names",
  "destructuring cycles",
  "aliases of the runtime",
  "reads of a wide object",
  "destructured wide object",
  "immediately called functions",
  "calls of bound methods",
  "findings",
  "secrets in code",
  "endless loops",
  "nested endless loops",
  "one loop with many labels",
  "imports",
  "names that nothing declares",
  "shadowed scopes",
  "very long name",
  "backslashes and backticks",
  "deep: members",
  "many: templates",
  "many: patterns with defaults",
]);

// These say how long something takes, not what is found, and faults that are put in make them long.
describe.skipIf(process.env["CEM_MUTATION"])("a review of a hard program", () => {
  it.each(programs.filter(({ name }) => LARGE.has(name)))(
    "ends in time for 100 KB: $name",
    async ({ make }) => {
      const code = make(LARGE_CHARACTERS);
      const tools = Array.from({ length: 500 }, (_, at) => toolNamed(`unknown_name_${at}`));
      const started = process.cpuUsage();
      const { findings } = await createGuard({ isAllowed: () => "it is not for code" }).review({
        code,
        tools,
      });
      expect(process.cpuUsage(started).user / 1000).toBeLessThan(MAX_MS);
      expect(findings.length).toBeLessThanOrEqual(100);
    },
  );
});

function toolNamed(name: string) {
  return {
    server: "calculator",
    name,
    kind: "local" as const,
    description: "",
    inputSchema: {},
    callStyle: "object" as const,
    signature: `${name}(): Promise<unknown>`,
    module: "./servers/calculator/index.ts",
  };
}

import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";
import type { Ended } from "./testing/run-cem.ts";

/** Each test runs several commands. */
vi.setConfig({ testTimeout: 120_000 });

interface Project {
  folder: string;
  /** Whether code of a plugin ran, and forgets it. */
  hasRun: () => boolean;
  write: (name: string, text: string) => void;
  cem: (...args: string[]) => Promise<Ended>;
}

/** A folder whose plugins leave a mark where they are imported. */
function project(plugins: unknown, files: Record<string, string> = {}): Project {
  const [folder, home, canary] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const mark = path.join(canary, "mark");
  const write = (name: string, text: string): void => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text.replaceAll("MARK", JSON.stringify(mark)));
  };
  write("config.yaml", JSON.stringify({ plugins }));
  for (const [name, text] of Object.entries(files)) write(name, text);
  return {
    folder,
    write,
    cem: (...args) => runCem(args, { cwd: folder, env: { HOME: home } }),
    hasRun() {
      const found = existsSync(mark);
      rmSync(mark, { force: true });
      return found;
    },
  };
}

/** The lines of `cem doctor` about plugins. */
async function doctor(cem: Project["cem"]): Promise<string[]> {
  const { checks } = JSON.parse((await cem("doctor", "--json")).stdout) as {
    checks: { name: string; notes: string[] }[];
  };
  return checks.find(({ name }) => name === "plugins")?.notes ?? [];
}

/** Code of a plugin that leaves a mark. */
function marking(name: string, extra = ""): string {
  return `import { writeFileSync } from "node:fs";
${extra}
writeFileSync(MARK, "");
export default {
  specificationVersion: "v1", name: "${name}", version: "1.0.0",
  setup: () => ({ detectors: [{ type: "HELLO", values: ["hello"] }] }),
};
`;
}

const manifest = (main: string, more: object = {}): string =>
  JSON.stringify({ name: "cem-plugin-x", version: "1.0.0", type: "module", main, ...more });
const PACKAGE = "node_modules/cem-plugin-x";

describe("plugins of a stranger's folder", () => {
  it("run nothing in any command before the yes, and the rest works", async () => {
    const { cem, hasRun } = project(["./mine.mjs", "cem-plugin-x"], {
      "mine.mjs": marking("mine"),
      [`${PACKAGE}/package.json`]: manifest("index.js"),
      [`${PACKAGE}/index.js`]: marking("x"),
    });
    for (const args of [["doctor"], ["tools"], ["trust"], ["skills"], ["servers"]]) {
      await cem(...args);
    }
    const run = await cem("run", "Add 2 and 3");
    expect(run.stderr).toContain("held back: plugin ./mine.mjs, plugin cem-plugin-x");
    expect((await doctor(cem)).join()).toMatch(/mine\.mjs: held back.*,cem-plugin-x.*: held back/u);
    expect(hasRun()).toBe(false);
    await cem("trust", "--yes");
    expect(hasRun()).toBe(false);
    expect((await doctor(cem)).join()).toMatch(
      /^mine 1\.0\.0 from \.\/mine\.mjs: ready.*,x 1\.0\.0 from cem-plugin-x: ready/u,
    );
    expect(hasRun()).toBe(true);
  });

  /** The ways to change a plugin of a path or a package after the yes. */
  const changes: [what: string, change: (at: Project) => void][] = [
    ["its module changes", ({ write }) => write("mine.mjs", `${marking("mine")}// changed`)],
    ["a module that it imports changes", ({ write }) => write("lib/part.mjs", "export const part = 2;")],
    [
      "a module of a package that it imports changes",
      ({ write }) => write("node_modules/dep/inner.js", "export const inner = 2;"),
    ],
    [
      "a package's manifest names another module",
      ({ write }) =>
        write("node_modules/dep/package.json", JSON.stringify({ name: "dep", main: "other.js" })),
    ],
    [
      "its options change",
      ({ write }) =>
        write("config.yaml", JSON.stringify({ plugins: [{ plugin: "./mine.mjs", options: { a: 2 } }] })),
    ],
    [
      "it becomes a link to another file",
      ({ folder, write }) => {
        write("other.mjs", marking("mine"));
        rmSync(path.join(folder, "mine.mjs"));
        symlinkSync("other.mjs", path.join(folder, "mine.mjs"));
      },
    ],
  ];

  it.each(changes)("are asked for anew when %s", async (_, change) => {
    const at = project([{ plugin: "./mine.mjs", options: { a: 1 } }], {
      "mine.mjs": marking("mine", 'import "./lib/part.mjs";\nawait import(/* lazily */ "dep");'),
      "lib/part.mjs": "export const part = 1;",
      "node_modules/dep/package.json": JSON.stringify({ name: "dep", main: "index.mjs" }),
      "node_modules/dep/index.mjs": 'export { inner } from "./inner.js";',
      "node_modules/dep/inner.js": "export const inner = 1;",
    });
    await at.cem("trust", "--yes");
    await at.cem("tools");
    expect(at.hasRun()).toBe(true);
    change(at);
    expect((await doctor(at.cem))[0]).toContain(": held back");
    expect(at.hasRun()).toBe(false);
    expect((await at.cem("trust")).stdout).toContain("changed since it was trusted");
  });

  const packageChanges: [what: string, change: (at: Project) => void][] = [
    ["main", ({ write }) => write(`${PACKAGE}/package.json`, manifest("evil.js"))],
    [
      "exports",
      ({ write }) => write(`${PACKAGE}/package.json`, manifest("index.js", { exports: "./evil.js" })),
    ],
    [
      "a nearer installation",
      ({ write, folder }) => {
        renameSync(path.join(folder, PACKAGE), path.join(folder, "kept"));
        write(`${PACKAGE}/package.json`, manifest("index.js"));
        write(`${PACKAGE}/index.js`, marking("x", "// another"));
      },
    ],
    [
      "a link in its place",
      ({ folder }) => {
        renameSync(path.join(folder, PACKAGE), path.join(folder, "moved"));
        symlinkSync("../moved", path.join(folder, PACKAGE));
      },
    ],
  ];

  it.each(packageChanges)(
    "from a package are asked for anew when its code is another by %s",
    async (_, change) => {
      const at = project(["cem-plugin-x"], {
        [`${PACKAGE}/package.json`]: manifest("index.js"),
        [`${PACKAGE}/index.js`]: marking("x"),
        [`${PACKAGE}/evil.js`]: marking("x"),
      });
      await at.cem("trust", "--yes");
      await at.cem("tools");
      expect(at.hasRun()).toBe(true);
      change(at);
      expect((await doctor(at.cem))[0]).toContain(": held back");
      expect(at.hasRun()).toBe(false);
    },
  );

  it("stay trusted where only the package's version changes", async () => {
    const at = project(["cem-plugin-x"], {
      [`${PACKAGE}/package.json`]: manifest("index.js"),
      [`${PACKAGE}/index.js`]: marking("x"),
    });
    await at.cem("trust", "--yes");
    at.write(
      `${PACKAGE}/package.json`,
      manifest("index.js", { version: "1.0.1", scripts: { test: "true" } }),
    );
    await at.cem("tools");
    expect(at.hasRun()).toBe(true);
  });

  it.each([
    "data:text/javascript,globalThis.x=1",
    "node:fs",
    "fs",
    "https://example.com/x.js",
    "cem-plugin-x/../../evil.mjs",
    "file:///etc/hosts",
    "./nothing.mjs",
    "./folder",
  ])("are not found at %s", async (name) => {
    const at = project([name], { "evil.mjs": marking("evil"), "folder/index.js": marking("evil") });
    await at.cem("trust", "--yes");
    expect((await doctor(at.cem))[0]).toContain(": error");
    expect(at.hasRun()).toBe(false);
  });

  it("are not loaded from where code in the sandbox can write, also through a link", async () => {
    const at = project(["./link.mjs", "./mine.mjs"], {
      "workspace/evil.mjs": marking("evil"),
      "mine.mjs": 'import "./workspace/evil.mjs";\nexport default {};',
    });
    symlinkSync("workspace/evil.mjs", path.join(at.folder, "link.mjs"));
    await at.cem("trust", "--yes");
    expect((await doctor(at.cem)).join("\n")).toContain("Code in the sandbox can write to");
    expect(at.hasRun()).toBe(false);
  });
});

describe("cem doctor", () => {
  it("shows of plugins the name, version, source, what each adds, time and state", async () => {
    const at = project(["./mine.mjs", "./broken.mjs", "./old.mjs"], {
      "mine.mjs": marking("mine"),
      "broken.mjs": 'throw new Error("no \\u001b[31mluck");',
      "old.mjs": 'export default { specificationVersion: "v0", name: "old" };',
    });
    await at.cem("trust", "--yes");
    const { stdout } = await at.cem("doctor");
    expect(stdout).toMatch(/plugins +3 plugins, 2 with a problem +warning/u);
    expect(stdout).not.toContain("\u001B[31mluck");
    const notes = (await doctor(at.cem)).join("\n");
    expect(notes).toMatch(
      /^mine 1\.0\.0 from \.\/mine\.mjs: ready, set up in <?\d+ ms, adds detector HELLO$/mu,
    );
    expect(notes).toContain("The plugin ./broken.mjs can't be loaded: no");
    expect(notes).toContain('./old.mjs is made for version "v0" of the ports');
    const run = await at.cem("exec", "--json", path.join(at.folder, "code.ts"));
    expect(run.code).toBe(2);
    at.write("code.ts", "return 1;");
    const { warnings } = JSON.parse((await at.cem("exec", "--json", "code.ts")).stdout);
    expect(warnings).toHaveLength(2);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** The house, from the ground up. A package may depend only on packages of lower floors. */
const FLOORS: readonly (readonly string[])[] = [
  ["@cem/core"],
  ["@cem/pii"],
  ["@cem/store"],
  ["@cem/program", "@cem/config", "@cem/tool-files"],
  ["@cem/sandbox", "@cem/bridge"],
  [
    "@cem/discovery",
    "@cem/selector",
    "@cem/codegen",
    "@cem/guardrails",
    "@cem/sandbox-deno",
    "@cem/mcp-client",
    "@cem/workspace",
    "@cem/skills",
    "@cem/forms",
    "@cem/type-check",
    "@cem/sandbox-k8s",
    "@cem/sandbox-msb",
  ],
  ["@cem/mcp-client/tools", "@cem/tool-files/answers"],
  ["@cem/agent"],
  ["@cem/mcp-server", "@cem/workflows", "@cem/ai", "@cem/queue"],
  ["code-execution-mcp"],
  ["@cem/cli", "@cem/server"],
];

interface Manifest {
  name: string;
  folder: string;
  dependencies: Record<string, string>;
}

const root = path.resolve(import.meta.dirname, "..");

function manifests(): Manifest[] {
  return ["packages", "apps"].flatMap((group) =>
    readdirSync(path.join(root, group)).map((name) => {
      const folder = path.join(root, group, name);
      const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
      const { dependencies, peerDependencies, optionalDependencies } = manifest;
      return {
        name: manifest.name,
        folder,
        dependencies: { ...dependencies, ...peerDependencies, ...optionalDependencies },
      };
    }),
  );
}

function sourceFiles(folder: string): string[] {
  return readdirSync(path.join(folder, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => path.join(folder, "src", file));
}

const floorOf = new Map(FLOORS.flatMap((names, floor) => names.map((name) => [name, floor] as const)));
const all = manifests();
const own = new Set(all.map(({ name }) => name));

describe("the floors of the house", () => {
  it.each(all)("$name has a floor and depends on lower ones only", ({ name, dependencies }) => {
    const floor = floorOf.get(name);
    expect(floor, `${name} is on no floor`).toBeDefined();
    const upward = Object.keys(dependencies).filter(
      (dependency) => own.has(dependency) && (floorOf.get(dependency) ?? Infinity) >= (floor ?? 0),
    );
    expect(upward).toEqual([]);
  });

  it.each(all)("$name imports no package of ours that its package.json does not name", (manifest) => {
    const undeclared = sourceFiles(manifest.folder)
      .filter((file) => !file.endsWith(".test.ts"))
      .flatMap((file) => [
        ...readFileSync(file, "utf8").matchAll(/from "(@cem\/[a-z-]+|code-execution-mcp)/g),
      ])
      .map(([, name = ""]) => name)
      .filter((name) => own.has(name) && !(name in manifest.dependencies));
    expect(undeclared).toEqual([]);
  });

  it.each(["docs/architecture.md", "CONTRIBUTING.md"])("are told in full in %s", (document) => {
    const text = readFileSync(path.join(root, document), "utf8");
    const missing = all.map(({ folder }) => path.basename(folder)).filter((name) => !text.includes(name));
    expect(missing).toEqual([]);
  });

  it("@cem/core depends on nothing but, where a user has it, OpenTelemetry's API", () => {
    const core = all.find(({ name }) => name === "@cem/core");
    expect(core?.dependencies).toEqual({ "@opentelemetry/api": expect.any(String) });
    const manifest = JSON.parse(readFileSync(path.join(core?.folder ?? "", "package.json"), "utf8"));
    expect(manifest.peerDependenciesMeta).toEqual({ "@opentelemetry/api": { optional: true } });
  });
});

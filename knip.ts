import { existsSync, globSync, readdirSync } from "node:fs";
import path from "node:path";
import type { KnipConfig } from "knip";

interface Workspace {
  entry?: string[];
  project?: string[];
  ignoreDependencies?: string[];
  ignoreBinaries?: string[];
}

/** Folders of packages and apps. In all but the sources and tests' helpers each file may be started by its name. */
const FOLDERS = ["src", "test", "scripts", "fixtures", "page", "microvm", "image"];
const STARTED = new Set(["scripts", "fixtures", "image"]);
const EXTENSIONS = "{ts,tsx,mjs}";

/** Additions for some packages: programs elsewhere, and dependencies and programs that no import names. */
const BESIDES: Readonly<Record<string, Workspace>> = {
  "apps/cli": {
    entry: ["src/testing/jobs-server.ts", "src/testing/register-telemetry.ts"],
    ignoreDependencies: ["@modelcontextprotocol/conformance"],
  },
  "apps/server": {
    ignoreDependencies: ["@aws-cdk/lambda-layer-.+", "@kubernetes-models/keda", "kubernetes-models"],
  },
  "packages/ai": { ignoreDependencies: ["@cem/codegen"] },
  "packages/code-execution-mcp": { ignoreDependencies: ["@modelcontextprotocol/server-.+"] },
  "packages/forms": { ignoreDependencies: ["dejavu-fonts-ttf"] },
  "packages/mcp-client": {
    ignoreDependencies: ["@modelcontextprotocol/conformance", "@modelcontextprotocol/server-.+"],
  },
  "packages/mcp-server": { entry: ["page/main.tsx"] },
  "packages/queue": { entry: ["test/fault-worker.ts"], ignoreBinaries: ["ip"] },
  "packages/sandbox": { ignoreDependencies: ["vitest"] },
  "packages/sandbox-k8s": { ignoreDependencies: ["stream-buffers"], ignoreBinaries: ["openssl", "prlimit"] },
  "packages/sandbox-msb": {
    entry: ["microvm/{main,reporter}.mjs", "microvm/{tests,provider,prepare-home,test-api,tsup.config}.ts"],
  },
  "packages/store": { ignoreDependencies: ["vitest"] },
  "packages/workflows": { entry: ["test/worker.ts"] },
  "packages/workspace": { ignoreDependencies: ["s3rver"] },
};

function workspaceOf(folder: string): Workspace {
  const { entry = [], ...besides } = BESIDES[folder] ?? {};
  const folders = FOLDERS.filter((name) => globSync(`${folder}/${name}/**/*.${EXTENSIONS}`).length > 0);
  const started = folders.filter((name) => STARTED.has(name)).map((name) => `${name}/*.${EXTENSIONS}`);
  const packed = existsSync(path.join(folder, "packed.mjs")) ? ["packed.mjs"] : [];
  return {
    entry: [...packed, ...started, ...entry],
    // Fixtures' servers are data.
    project: [...folders.map((name) => `${name}/**/*.${EXTENSIONS}`), "!fixtures/servers/**"],
    ...besides,
  };
}

const members = ["packages", "apps"].flatMap((group) => readdirSync(group).map((name) => `${group}/${name}`));

const config: KnipConfig = {
  ignoreExportsUsedInFile: { interface: true, type: true },
  treatConfigHintsAsErrors: true,
  workspaces: {
    ".": {
      entry: ["scripts/*.{mjs,ts}", "scripts/mutation/*.mjs"],
      project: ["scripts/{*,mutation,microvm}/**", "*.ts"],
      ignoreDependencies: [
        "@stryker-mutator/(core|vitest-runner)",
        "@lezer/python",
        "ajv|ajv-formats|aws4fetch|p-map|re2js|diff|fastest-levenshtein|openai|stdnum|stemmer|yaml|zod",
      ],
    },
    ...Object.fromEntries(members.map((folder) => [folder, workspaceOf(folder)])),
    docs: {
      entry: ["scripts/*.ts"],
      project: ["*.ts", "scripts/**/*.ts", ".vitepress/*.ts"],
      ignoreDependencies: ["@ai-sdk/openai", "@cem/.+", "@types/express", "ai", "express", "fastify", "zod"],
    },
    examples: {
      entry: ["*.ts", "forms/*.ts", "plugins/*/index.js"],
      ignoreDependencies: ["@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/server-memory"],
    },
    "scripts/bench": {
      entry: ["{main,upstream-server}.ts"],
      project: ["*.ts"],
      ignoreDependencies: ["@cem/cli"],
    },
    "scripts/scale": { entry: ["src/{main,calibrate}.ts"], project: ["src/*.ts"] },
    "scripts/packed": { project: ["*.mjs"], ignoreDependencies: ["@cem/.+", "code-execution-mcp"] },
  },
  ignoreBinaries: ["cem", "mkfifo", "qemu-system-x86_64", "redis-server", "unshare"],
};

export default config;

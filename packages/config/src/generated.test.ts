import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { settingsTable } from "../scripts/reference.ts";
import { load } from "../test/config-folder.ts";
import {
  configJsonSchema,
  loadConfig,
  PENDING_SETTINGS,
  renderConfigTemplate,
  renderStarterConfig,
  SETTINGS,
} from "./index.ts";

function read(name: string): string {
  return readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
}

const TEMPLATE = renderConfigTemplate();
/** The template with every setting that stands behind a `#`. */
const UNCOMMENTED = TEMPLATE.replaceAll(/^( *)# ([a-z_]+:(?: \S+)?)$/gm, "$1$2");

describe("renderConfigTemplate", () => {
  it("loads as the defaults, and so does every line behind a #", async () => {
    const cwd = "/nowhere";
    const { config: defaults } = await loadConfig({ cwd, env: {} });
    for (const text of [TEMPLATE, UNCOMMENTED]) {
      const { config, file } = await load(text);
      const folder = file?.replace(/\/config\.yaml$/, "") ?? "";
      expect(JSON.parse(JSON.stringify(config).replaceAll(folder, cwd))).toEqual(
        JSON.parse(JSON.stringify(defaults)),
      );
    }
  });

  it("has every setting, and sets none that has no effect yet", async () => {
    for (const { path } of SETTINGS) {
      expect(UNCOMMENTED).toMatch(new RegExp(`^ *${path.split(".").at(-1)}:`, "m"));
    }
    const { origins } = await load(TEMPLATE);
    expect(Object.keys(PENDING_SETTINGS).filter((path) => origins[path]?.from !== "default")).toEqual([]);
    const set = SETTINGS.filter(({ path }) => origins[path]?.from === "file").map(({ path }) => path);
    expect(set).toContain("execution.sandbox_type");
  });

  it("separates sections and settings of the first level by empty lines", () => {
    for (const name of ["execution", "llm", "mcp_servers", "workflows"])
      expect(TEMPLATE).toMatch(new RegExp(`\\n\\n(?:#.*\\n)+(?:# )?${name}:`));
  });

  it("names the schema for editors when told to", () => {
    expect(renderConfigTemplate({ schema: "./s.json" }).split("\n")[0]).toBe(
      "# yaml-language-server: $schema=./s.json",
    );
  });
});

describe("renderStarterConfig", () => {
  it("sets nothing but defaults, and every example behind a # is allowed", async () => {
    const starter = renderStarterConfig();
    const { config, origins } = await load(starter);
    const { config: defaults } = await load("");
    expect(config.guardrails).toEqual(defaults.guardrails);
    expect(origins["llm.enabled"]?.from).toBe("default");
    expect(
      (
        await load(
          starter.replaceAll(
            /^ {2}# (?=(?:enabled|provider|model|file|mount_directories|allowed_networks): )/gm,
            "  ",
          ),
        )
      ).config.llm.enabled,
    ).toBe(true);
  });
});

describe("config.schema.json", () => {
  it("is up to date; `pnpm generate` writes it", () => {
    expect(JSON.parse(read("config.schema.json"))).toEqual(configJsonSchema());
  });

  it("takes what the loader takes and refuses what it refuses", () => {
    const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(configJsonSchema());
    const good = [
      {},
      parse(TEMPLATE),
      parse(UNCOMMENTED),
      { mcpServers: { a: { command: "x", env: { PORT: 1 } } } },
      { mcp_servers: [{ name: "a", url: "x", connection_type: "sse" }] },
      { execution: { mount_directories: ["a", { host: "b" }] }, logging: { level: "info" } },
    ];
    for (const value of good) expect([validate(value), validate.errors]).toEqual([true, null]);
    const bad = [
      { x: 1 },
      { execution: { sandbox_typ: "deno" } },
      { execution: { min_isolation: "docker" } },
      { guardrails: { max_memory_mb: "512" } },
      { mcp_servers: [{ url: "x" }] },
      { logging: { level: "LOUD" } },
    ];
    for (const value of bad) expect([value, validate(value)]).toEqual([value, false]);
  });
});

describe("README.md", () => {
  it("has the table of all settings; `pnpm generate` writes it", () => {
    const plain = (text: string): string => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---");
    expect(plain(read("README.md"))).toContain(plain(settingsTable()));
  });
});

describe("SETTINGS", () => {
  it("describes every setting in a sentence", () => {
    for (const { path, description } of SETTINGS)
      expect([path, description]).toEqual([path, expect.stringMatching(/^\S.*\.$/)]);
  });

  it("marks every setting that holds secrets", () => {
    expect(SETTINGS.filter(({ secret }) => secret).map(({ path }) => path)).toEqual([
      "execution.msb_api_key",
      "llm.api_key",
      "privacy.vault_key",
      "server.auth_token",
      "store.keys",
      "mcp_servers",
    ]);
  });
});

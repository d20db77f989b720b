import { Ajv } from "ajv";
import { stringify } from "yaml";
import { describe, expect, it } from "vitest";
import { load } from "../test/config-folder.ts";
import { configJsonSchema, loadConfig, renderStarterConfig, SETTINGS } from "./index.ts";

/** A mapping with every setting that has a default, in the names of config.yaml. */
function everyDefault(): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { path, default: standard } of SETTINGS) {
    if (standard === undefined) continue;
    const names = path.split(".");
    let section = values;
    for (const name of names.slice(0, -1)) section = (section[name] ??= {}) as Record<string, unknown>;
    section[names.at(-1) ?? ""] = standard;
  }
  return values;
}

describe("SETTINGS", () => {
  it("has defaults that load as the configuration without a file", async () => {
    const cwd = "/nowhere";
    const { config: defaults } = await loadConfig({ cwd, env: {} });
    const { config, file } = await load(stringify(everyDefault()));
    const folder = file?.replace(/\/config\.yaml$/, "") ?? "";
    expect(JSON.parse(JSON.stringify(config).replaceAll(folder, cwd))).toEqual(
      JSON.parse(JSON.stringify(defaults)),
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

describe("configJsonSchema", () => {
  it("takes what the loader takes and refuses what it refuses", () => {
    const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(configJsonSchema());
    const good = [
      {},
      everyDefault(),
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

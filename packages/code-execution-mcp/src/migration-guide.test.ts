import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { SETTINGS } from "@cem/config";
import { findProblems } from "@cem/config/edit";
import { describe, expect, it, onTestFinished } from "vitest";
import * as admin from "./admin.ts";
import * as main from "./index.ts";
import * as stages from "./stages.ts";

const GUIDE = readFileSync(
  path.resolve(import.meta.dirname, "../../../docs/how-to/migrate-from-python.md"),
  "utf8",
);

/** The rows of a section's table, below its head. */
function rowsOf(heading: string): [there: string, here: string][] {
  const [, section = ""] = GUIDE.split(`\n## ${heading}\n`);
  const rows = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) => {
    const [, there = "", here = ""] = row.split(/(?<!\\)\|/u).map((cell) => cell.trim());
    return [there, here];
  });
}

function spansIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/gu)].map(([, span = ""]) => span);
}

/** Values that the original takes, where the default of the setting here is none of its type. */
const SAMPLES: Readonly<Record<string, string>> = {
  "execution.sandbox_type": "microsandbox",
  "execution.sandbox_image": "python",
  "execution.state.state_format": "pickle",
  "llm.max_completion_tokens": "2000",
  "mcp_servers[].name": "other",
  "mcp_servers[].connection_type": "sse",
  "mcp_servers[].enabled": "false",
  "mcp_servers[].timeout": "30",
  "mcp_servers[].url": "http://localhost:8000/sse",
  "mcp_servers[].metadata": "{a: 1}",
  "tool_mappings[].input_schema": "{}",
  "tool_mappings[].output_schema": "{}",
  "workflows[].steps": "[{name: a, type: code_execution, config: {}}]",
  "workflows[].variables": "{a: 1}",
  "workflows[].guardrails": "{enabled: true}",
};
const ITEMS: Readonly<Record<string, string>> = {
  mcp_servers: '{name: a, url: "http://localhost/sse"',
  tool_mappings:
    "{server_name: a, tool_name: b, python_function_name: c, input_schema: {}, output_schema: {}",
  workflows: "{name: a, steps: []",
};

/** A config.yaml that sets one key. */
function yamlOf(key: string): string {
  const standard = SETTINGS.find((setting) => setting.path === key)?.default;
  const value = SAMPLES[key] ?? (standard === undefined ? "text" : JSON.stringify(standard));
  const [list, name] = key.split("[].");
  if (name === undefined) {
    const names = key.split(".");
    return names.map((part, at) => `${"  ".repeat(at)}${part}:`).join("\n") + ` ${value}\n`;
  }
  const item = (ITEMS[list ?? ""] ?? "{").replace(
    new RegExp(`([{ ])${name}: (?:"[^"]*"|[^,]+)(?:, )?`, "u"),
    "$1",
  );
  return `${list}:\n- ${item.replace(/, $/u, "")}${item === "{" ? "" : ", "}${name}: ${value}}\n`;
}

describe("the guide for the Python original", () => {
  describe("keys of config.yaml", () => {
    it.each(rowsOf("Keys of config.yaml"))("%s: %s", async (there, here) => {
      const [key = ""] = spansIn(there);
      const said = (await findProblems(yamlOf(key), "config.yaml")).map(({ message }) => message).join(" ");
      const [setting = key] = key.split("[].");
      const described = SETTINGS.find(({ path: own }) => own === setting)?.description;
      const works = described?.startsWith("Read without an effect") === true ? "without an effect" : "works";
      expect(said.includes("delete the line") ? "gone" : said || works).toBe(
        here === "gone" ? "gone" : here.includes("without an effect") ? "without an effect" : "works",
      );
    });
  });

  describe("variables", () => {
    it.each(rowsOf("Variables"))("%s: %s", async (there, here) => {
      const cwd = mkdtempSync(path.join(tmpdir(), "cem-guide-"));
      onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
      const name = (spansIn(there)[0] ?? "").replace("<NAME>", "1");
      const [setting = ""] = spansIn(here);
      const standard = SETTINGS.find(({ path: own }) => own === setting)?.default;
      const samples: Record<string, string> = {
        "execution.sandbox_type": "deno",
        "execution.state.state_format": "yaml",
        "logging.level": "DEBUG",
        "llm.provider": "openai",
      };
      const value = name.endsWith("_1_URL")
        ? "http://localhost:9/sse"
        : (samples[setting] ??
          (typeof standard === "string" ? "text" : JSON.stringify(standard ?? "text").replaceAll('"', "")));
      writeFileSync(path.join(cwd, ".env"), `${name}=${value}\n`);
      const overrides = name.startsWith("AZURE_OPENAI_API_KEY")
        ? { llm: { provider: "azure_openai" as const } }
        : {};
      const { config, origins, warnings } = await main.loadConfig({
        cwd,
        env: {},
        config: overrides,
        trustFolder: true,
      });
      const isNamed = warnings.some((warning) => warning.startsWith(`.env ${name}  sets nothing here.`));
      const isServer = config.mcpServers.some((server) => server.name === "1" && "url" in server);
      const isSet = origins[setting]?.from === ".env" && origins[setting].variable === name;
      expect({ isNamed, isServer, isSet }).toEqual({
        isNamed: here.startsWith("nothing"),
        isServer: name === "MCP_SERVER_1_URL",
        isSet: !here.startsWith("nothing") && name !== "MCP_SERVER_1_URL",
      });
    });

    it("has every variable that the loader reads or names for the original's sake", () => {
      const named = rowsOf("Variables").flatMap(([there]) => spansIn(there));
      for (const name of ["LLM_API_KEY", "ALLOW_NETWORK_ACCESS", "OPTIMIZATIONS_ENABLED"])
        expect(named).toContain(name);
    });
  });

  it("names exports that are there", () => {
    const here = rowsOf("Functions and classes").map(([, cell]) => cell);
    const packages: Record<string, object> = {
      "code-execution-mcp": main,
      "code-execution-mcp/stages": stages,
      "code-execution-mcp/admin": admin,
    };
    let tried = 0;
    for (const cell of here) {
      for (const [, names = "", from = ""] of cell.matchAll(
        /((?:`[^`]+`(?:, | and )?)+) of `(code-execution-mcp[^`]*)`/gu,
      )) {
        for (const name of spansIn(names).map((span) => span.replace(/\(.*$/u, ""))) {
          expect([name, name in (packages[from] ?? {})]).toEqual([name, true]);
          tried += 1;
        }
      }
    }
    expect(tried).toBeGreaterThan(12);
  });
});

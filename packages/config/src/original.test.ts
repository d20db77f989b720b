import { describe, expect, it } from "vitest";
import { folderWith, load, problems } from "../test/config-folder.ts";
import { loadConfig, SETTINGS } from "./index.ts";

const WRITTEN_FOR_THE_ORIGINAL = `
execution:
  workspace_dir: ./workspace
  servers_dir: ./servers
  skills_dir: ./skills
  sandbox_type: microsandbox
  sandbox_image: python
  allow_network_access: false
  mount_directories: []
  state: {enabled: true, workspace_dir: ./workspace, state_file: state.json, auto_save: true, state_format: pickle}
llm:
  enabled: false
  provider: azure_openai
  model: gpt-4o-mini
  api_key: k
  azure_endpoint: https://resource.openai.azure.com
  azure_deployment_name: gpt-4o-mini
  azure_api_version: 2024-08-01-preview
  temperature: 0.3
  max_tokens: 2000
  max_completion_tokens: 2000
optimizations:
  enabled: true
  sandbox_pooling: false
  sandbox_pool_size: 3
  tool_cache: true
  tool_cache_file: .tool_cache.json
  gpu_embeddings: true
  parallel_discovery: true
  file_content_cache: true
guardrails:
  enabled: true
  strict_mode: false
  content_filtering: true
  security_checks: true
  privacy_protection: true
  pii_detection: true
  tokenization: true
  rate_limiting: true
  max_execution_time: 300
  max_memory_mb: 512
  allowed_networks: []
  blocked_patterns: []
logging: {level: INFO, file: logs/code-execution-mcp.log}
mcp_servers: []
tool_mappings:
- server_name: weather
  tool_name: get
  python_function_name: get_weather
  input_schema: {type: object, properties: {place: {type: string}}}
  output_schema: {}
workflows:
- name: extract
  description: Reads and sums
  version: "1.0"
  steps:
  - {name: read, type: code_execution, config: {code: "1"}, on_error: skip, retry: {attempts: 2}}
  - {name: call, type: tool_call, config: {}, guardrails: {enabled: true, strict_mode: false}}
  variables: {output_dir: ./workspace}
  guardrails: {enabled: true, pii_detection: true, tokenization: true}
`;
/** Settings that the original does not have. */
const OURS =
  /^plugins$|^execution\.(?:min_isolation|type_check|workflow_runs_dir|limits\..*|kubernetes\..*|msb_.*)$|^llm\.(?:base_url|timeout|max_re.*|price_.*|budget_.*|tool_tokens|data_facts|azure_embedder_.*|embedding_model)$|^optimizations\.(?:sandbox_kept_guests|sandbox_reuse|embedding_model_dir|search_cache_dir)$|^server\.|^privacy\.|^customers\.|^queue\.|^runs\.|^store\.|^guardrails\.(?:changed_tools|rate_limits|budgets|tool_costs|(?:allowed|blocked|read)_tools|approvals|egress)$|^logging\.audit_/;

describe("a config.yaml written for the Python original", () => {
  it("loads as it is, every key of it", async () => {
    const { config, origins, warnings } = await load(WRITTEN_FOR_THE_ORIGINAL);
    expect(warnings).toEqual([]);
    expect(config.execution).toMatchObject({
      sandboxType: "microsandbox",
      sandboxImage: "python",
      state: { stateFormat: "binary" },
    });
    expect(config.llm).toMatchObject({ provider: "azure_openai", maxCompletionTokens: 2000 });
    expect(config.optimizations.sandboxPooling).toBe(false);
    expect(config.toolMappings).toMatchObject([{ serverName: "weather", pythonFunctionName: "get_weather" }]);
    expect(config.workflows[0]?.steps[1]?.guardrails).toEqual({ enabled: true, strictMode: false });
    expect(config.workflows[0]?.guardrails).toEqual({
      enabled: true,
      piiDetection: true,
      tokenization: true,
    });
    const unset = SETTINGS.filter(({ path }) => origins[path]?.from !== "file").map(({ path }) => path);
    expect(unset.filter((path) => !OURS.test(path))).toEqual([]);
  });

  it("is told which line to change where it names what is not here", async () => {
    const found = await problems(
      "execution:\n  sandbox_type: OpenSandbox\n  opensandbox_image: python:3.11\n",
    );
    expect(found.map(({ message }) => message)).toEqual([
      expect.stringContaining("OpenSandbox runs Python; write auto."),
      "is not a setting. There is no OpenSandbox here: delete the line.",
    ]);
  });
});

describe("variables written for the Python original", () => {
  it("name MCP servers, weaker than the file, and those of .env are held back until the folder is trusted", async () => {
    const cwd = await folderWith({
      "config.yaml": "mcp_servers: [{name: two, url: 'http://localhost:2'}]",
      ".env":
        "MCP_SERVER_1_URL=http://localhost:1\nMCP_SERVER_TWO_URL=http://localhost:9\nMCP_SERVER_URL=http://x\n",
    });
    const env = { MCP_SERVER_3_URL: "http://localhost:3", MCP_SERVER_4_URL: "stdio://x" };
    const { config, trust, warnings } = await loadConfig({ cwd, env, trustFolder: false });
    expect(config.mcpServers.map((server) => [server.name, "url" in server ? server.url : ""])).toEqual([
      ["two", "http://localhost:2"],
      ["3", "http://localhost:3"],
      ["1", "http://localhost:1"],
    ]);
    expect(trust.held.map(({ name }) => name)).toEqual(["two", "1"]);
    expect(warnings).toEqual([
      expect.stringContaining("environment MCP_SERVER_4_URL  is not used"),
      '.env MCP_SERVER_TWO_URL  is not used: mcp_servers names the server "two" already.',
    ]);
  });

  it("call no model by Azure's alone, which is said until llm.enabled is set", async () => {
    const env = { AZURE_OPENAI_ENDPOINT: "https://a.example", AZURE_OPENAI_API_KEY: "k" };
    const { config, warnings } = await loadConfig({ cwd: await folderWith({}), env });
    expect(config.llm).toMatchObject({ enabled: false, provider: "azure_openai" });
    expect(warnings).toEqual([expect.stringContaining("LLM_ENABLED=true")]);
    for (const enabled of ["true", "false"])
      expect(
        (await loadConfig({ cwd: await folderWith({}), env: { ...env, LLM_ENABLED: enabled } })).warnings,
      ).toEqual([]);
  });
});

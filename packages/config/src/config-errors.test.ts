import { describe, expect, it } from "vitest";
import { PII_TYPES } from "../../pii/src/context.ts";
import { failure, load, problems } from "../test/config-folder.ts";
import { loadConfig } from "./index.ts";

async function message(yaml: string): Promise<string> {
  return (await failure(load(yaml))).message;
}

describe("an unknown key", () => {
  it.each([
    [
      "execution:\n  sandbox_typ: deno",
      "config.yaml:2  execution.sandbox_typ  is not a setting. Did you mean  execution.sandbox_type ?",
    ],
    [
      "execution:\n  sandboxType: deno",
      "config.yaml:2  execution.sandboxType  is not a setting. Did you mean  execution.sandbox_type ?",
    ],
    [
      "sandbox_image: x",
      "config.yaml:1  sandbox_image  is not a setting. Did you mean  execution.sandbox_image ?",
    ],
    [
      "LLM_MODEL: x",
      "config.yaml:1  LLM_MODEL  is not a setting. As an environment variable it sets  llm.model .",
    ],
    [
      "logging:\n  zzzzzz: x",
      "config.yaml:2  logging.zzzzzz  is not a setting. Settings here: level, file, audit_file.",
    ],
    [
      "logging: {__proto__: {level: x}}",
      "config.yaml:1  logging.__proto__  is not a setting. Settings here: level, file, audit_file.",
    ],
    [
      "constructor: 1",
      "config.yaml:1  constructor  is not a setting. Settings here: execution, llm, optimizations, guardrails, privacy, logging, customers, server, queue, runs, store, mcp_servers, plugins, tool_mappings, workflows.",
    ],
    [
      "mcp_servers: [{name: a, url: 'http://b', conection_type: sse}]",
      "config.yaml:1  mcp_servers[0].conection_type  is not a setting. Did you mean  mcp_servers[0].connection_type ?",
    ],
  ])("is an error: %s", async (yaml, expected) => {
    expect(await message(yaml)).toBe(expected);
  });

  it("is an error in arguments too, under its TypeScript name", async () => {
    const overrides = { execution: { sandbox_type: "deno" } } as object;
    expect((await failure(load("", { config: overrides }))).message).toBe(
      "argument  execution.sandbox_type  is not a setting. Did you mean  execution.sandboxType ?",
    );
  });
});

describe("a bad value", () => {
  it.each([
    ["execution: {sandbox_type: docker}", 'is "docker". Allowed: auto, deno, microsandbox, kubernetes.'],
    [
      "execution: {sandbox_type: micro-sandbox}",
      'is "micro-sandbox". Allowed: auto, deno, microsandbox, kubernetes. Did you mean microsandbox?',
    ],
    ["guardrails: {max_memory_mb: 1.5}", "is 1.5. Allowed: a whole number from 32 to 1048576."],
    ["guardrails: {max_execution_time: .inf}", "is Infinity. Allowed: a number from 0.1 to 86400."],
    ["guardrails: {max_execution_time: .nan}", "is NaN. Allowed: a number from 0.1 to 86400."],
    ["guardrails: {max_execution_time: -1}", "is -1. Allowed: a number from 0.1 to 86400."],
    ["guardrails: {strict_mode: maybe}", 'is "maybe". Allowed: true, false.'],
    ['guardrails: {strict_mode: "yes"}', 'is "yes". Allowed: true, false.'],
    ["guardrails: {blocked_patterns: eval}", "is a text. Allowed: a list of texts."],
    [
      "guardrails: {allowed_networks: [https://a.example]}",
      "is not a host or host:port, such as api.example.com or 10.1.2.3:8080.",
    ],
    [
      "guardrails: {allowed_networks: ['a,b']}",
      "is not a host or host:port, such as api.example.com or 10.1.2.3:8080.",
    ],
    [
      "guardrails: {allowed_networks: ['10.0.0.300']}",
      "is not a host or host:port, such as api.example.com or 10.1.2.3:8080.",
    ],
    ["llm: true", "is a boolean. Allowed: a section with enabled,"],
    ["logging: {level: LOUD}", 'is "LOUD". Allowed: DEBUG, INFO, WARNING, ERROR, CRITICAL.'],
    ["execution: {workspace_dir: ''}", 'is "". Allowed: text.'],
    ["server: {auth_issuer: 'http://[bad'}", "is not a valid URL."],
    [
      "server: {auth_issuer: 'ftp://a.example'}",
      'is "ftp://a.example". Allowed: a URL that begins with http:// or https://.',
    ],
    ["execution: [1]", "is a list. Allowed: a section with workspace_dir,"],
    ["workflows: [{name: a}]", "is missing. It takes a list."],
    ["privacy: {types: [EMAILS]}", 'is "EMAILS". Allowed: EMAIL, PHONE,'],
    ["privacy: {types: [EMAILS]}", "Did you mean EMAIL?"],
    ["privacy: {types: [PHONE, email]}", "privacy.types[1]  is not a name in upper case, such as EMAIL."],
    ["privacy: {types: [EMPLOYE], custom: [{type: EMPLOYEE, values: [a]}]}", "Did you mean EMPLOYEE?"],
    [
      "privacy: {regions: [US, UK]}",
      "privacy.regions[1]  is not the code of a country, such as US, DE or GB (not UK).",
    ],
    ["privacy: {regions: [EU]}", "is not the code of a country"],
    ["privacy: {regions: [us]}", "is not the code of a country"],
    ["privacy: {custom: [{type: employee, values: [a]}]}", "is not a name in upper case, such as EMAIL."],
    ["privacy: {rules: [{from: '', action: deny}]}", 'is "". Allowed: text.'],
  ])("is an error: %s", async (yaml, expected) => {
    expect(await message(yaml)).toContain(expected);
  });

  it("carries file, line, column, path, value and what is allowed", async () => {
    const [problem] = await problems("execution:\n  min_isolation: vm\n");
    expect(problem).toMatchObject({
      origin: "config.yaml:2",
      path: "execution.min_isolation",
      file: expect.stringMatching(/config\.yaml$/),
      line: 2,
      column: 3,
      value: '"vm"',
      allowed: "microvm, namespaces, permissions",
    });
  });

  it("in a variable names the variable", async () => {
    const env = {
      MAX_MEMORY_MB: "lots",
      GUARDRAILS_STRICT_MODE: "perhaps",
      LLM_TEMPERATURE: "9",
      LLM_PROVIDER: "openia",
    };
    const error = await failure(load("", { env }));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message.split("\n")).toEqual([
      "The configuration has 4 problems.",
      'environment GUARDRAILS_STRICT_MODE  guardrails.strict_mode  is "perhaps". Allowed: true, false.',
      'environment MAX_MEMORY_MB  guardrails.max_memory_mb  is "lots". Allowed: a whole number from 32 to 1048576.',
      'environment LLM_PROVIDER  llm.provider  is "openia". Allowed: openai, azure_openai, anthropic. Did you mean openai?',
      "environment LLM_TEMPERATURE  llm.temperature  is 9. Allowed: a number from 0 to 2.",
    ]);
  });

  it("of a type is compared with all that are built in", async () => {
    const [problem] = await problems("privacy: {types: [EMAILS]}");
    expect(problem?.allowed).toBe(PII_TYPES.join(", "));
  });

  it("is no type of value that `privacy.custom` of another source names, or that a plugin may bring", async () => {
    const types = "privacy: {types: [EMPLOYEE, PHONE]}";
    const overrides = { privacy: { custom: [{ type: "EMPLOYEE", values: ["a"] }] } };
    expect((await load(types, { config: overrides })).config.privacy.types).toEqual(["EMPLOYEE", "PHONE"]);
    expect((await load(types, { hasPlugins: true })).config.privacy.types).toEqual(["EMPLOYEE", "PHONE"]);
  });

  it("is a kind of approval that is mistyped, which would ask for none", async () => {
    expect(await problems('guardrails: {approvals: [write, "write.*", destructive, files]}')).toMatchObject([
      { path: "guardrails.approvals[0]" },
    ]);
  });

  it("is an error even where a stronger source hides it", async () => {
    expect(await problems("llm: {model: [1]}", { config: { llm: { model: "x" } } })).toHaveLength(1);
  });

  it("in arguments says so", async () => {
    for (const given of [() => ({}), [], new Map(), { guardrails: new Map([["maxMemoryMb", 512]]) }]) {
      const { message } = await failure(loadConfig({ configFile: false, env: {}, config: given as object }));
      expect(message).toContain("is not an object of settings.");
    }
    const overrides = { guardrails: { maxMemoryMb: "512" } } as unknown as object;
    expect((await failure(loadConfig({ configFile: false, env: {}, config: overrides }))).message).toBe(
      'argument  guardrails.maxMemoryMb  is "512". Allowed: a whole number from 32 to 1048576.',
    );
  });

  it("comes with all the others, in the order of the file", async () => {
    const found = await problems(
      "a: 1\nllm:\n  temperature: hot\n  b: 2\nmcp_servers:\n  x: {}\n  y: {url: 1, headers: {A: {}}}\n",
    );
    expect(found.map(({ line, path }) => `${line} ${path}`)).toEqual([
      "1 a",
      "3 llm.temperature",
      "4 llm.b",
      "6 mcp_servers.x",
      "7 mcp_servers.y.headers.A",
    ]);
  });

  it("is cut when long and kept on one line", async () => {
    const [problem] = await problems(`execution: {sandbox_type: "${"x".repeat(500)}\\n\\e[31m"}`);
    expect(problem?.message.length).toBeLessThan(150);
    expect(await message('"a\\n\\e[31mb": 1')).toContain("a\\n\\u001b[31mb  is not a setting");
  });
});

describe("plain YAML words", () => {
  it("mean what the setting takes", async () => {
    const { config } = await load(
      "guardrails: {enabled: no, strict_mode: Yes}\nllm: {model: 4, api_key: 1234, azure_api_version: 2024-08-01}\nworkflows: [{name: a, version: 1.0, steps: []}]",
    );
    expect(config.guardrails).toMatchObject({ enabled: false, strictMode: true });
    expect(config.llm).toMatchObject({ model: "4", azureApiVersion: "2024-08-01" });
    expect(config.llm.apiKey?.reveal()).toBe("1234");
    expect(config.workflows[0]?.version).toBe("1.0");
  });
});

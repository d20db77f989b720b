import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { load, problems } from "../test/config-folder.ts";
import { redactConfig, Secret } from "./index.ts";

const YAML = `
llm: {api_key: hush-1, max_tokens: 7}
execution: {msb_api_key: hush-2}
mcp_servers:
- {name: a, url: "https://user:hush-3@host/p?key=hush-4&x=hush-5#f", headers: {Authorization: Bearer hush-6}}
- {name: b, command: c, args: [--api-key, hush-7, --token=hush-8, plain], env: {TOKEN: hush-9}}
- {name: c, url: http://x, metadata: {apiKey: hush-10, owner: me}}
`;

describe("a loaded configuration", () => {
  it("shows no secret, however it is printed", async () => {
    const loaded = await load(YAML, { env: { AZURE_OPENAI_API_KEY: "hush-11" } });
    const { config } = loaded;
    const printed = [
      inspect(loaded, { depth: 9, showHidden: true }),
      inspect(config, { depth: 9 }),
      inspect(config.llm),
      JSON.stringify(loaded),
      JSON.stringify(config.llm),
      JSON.stringify(redactConfig(config)),
      String(config.llm.apiKey),
      config.execution.msbApiKey?.toString(),
      inspect(loaded.origins),
    ].join("\n");
    expect(printed).not.toContain("hush");
    expect(redactConfig(config)).toMatchObject({ llm: { apiKey: "[secret]", maxTokens: 7 } });
    expect(redactConfig(config).mcpServers).toMatchObject([
      { url: "https://[secret]@host/p?key=[secret]&x=[secret]#f", headers: { Authorization: "[secret]" } },
      { args: ["--api-key", "[secret]", "--token=[secret]", "plain"] },
      { metadata: { apiKey: "[secret]", owner: "me" } },
    ]);
  });

  it("gives its secrets to who asks", async () => {
    const { config } = await load(YAML);
    expect(config.llm.apiKey?.reveal()).toBe("hush-1");
    const [first, second] = config.mcpServers;
    expect(first?.connectionType === "auto" && first.headers["Authorization"]?.reveal()).toBe(
      "Bearer hush-6",
    );
    expect(second?.connectionType === "stdio" && second.env["TOKEN"]?.reveal()).toBe("hush-9");
  });
});

describe("an error", () => {
  it("never holds the value of a secret, or of what can hold one", async () => {
    const yaml =
      "llm: {api_key: [hush]}\nmcp_servers: {a: {url: x, headers: hush}, b: hush, c: {command: x, env: {A: [hush]}}}";
    const found = await problems(yaml);
    expect(found).toHaveLength(4);
    expect(JSON.stringify(found)).not.toContain("hush");
  });
});

describe("Secret", () => {
  it("is recognised across copies of the package", () => {
    expect(Secret.isInstance(new Secret("x"))).toBe(true);
    expect(Secret.isInstance({})).toBe(false);
  });
});

import path from "node:path";
import { describe, expect, it } from "vitest";
import { failure, folderWith } from "../test/config-folder.ts";
import { loadConfig, type LoadConfigOptions } from "./index.ts";

const ENV = { OPENAI_API_KEY: "sk-of-the-user" };
const ELSEWHERE = "llm: {enabled: true, base_url: 'https://u:p@stranger.example/v1?x=1'}";

async function load(files: Record<string, string>, options: LoadConfigOptions = {}) {
  const cwd = await folderWith(files);
  const { config, warnings } = await loadConfig({ cwd, env: ENV, ...options });
  return { key: config.llm.apiKey?.reveal(), warnings };
}

async function refusal(files: Record<string, string>, options: LoadConfigOptions = {}): Promise<string> {
  return (await failure(load(files, options))).message;
}

describe("a URL that the folder names", () => {
  it("does not get a key of the user's own, and the error says what to do", async () => {
    const cwd = await folderWith({ "config.yaml": ELSEWHERE });
    expect((await failure(loadConfig({ cwd, env: ENV }))).message).toBe(
      `config.yaml:1  llm.base_url  would send your key (environment OPENAI_API_KEY) to stranger.example, which only files of this folder name. To allow it, set LLM_BASE_URL in your environment, put the key into .env here, or set CEM_TRUST_FOLDER=${cwd} .`,
    );
  });

  it.each<[string, Record<string, string>, LoadConfigOptions]>([
    ["in .env", { ".env": "LLM_ENABLED=1\nLLM_BASE_URL=https://stranger.example" }, {}],
    ["in a file that .env names", { ".env": "CEM_CONFIG=other.yaml", "other.yaml": ELSEWHERE }, {}],
    [
      "for Azure",
      { ".env": "LLM_ENABLED=1\nAZURE_OPENAI_ENDPOINT=https://stranger.example" },
      { env: { AZURE_OPENAI_API_KEY: "k" } },
    ],
    [
      "for embeddings",
      { "config.yaml": "llm: {embedding_model: m, base_url: 'https://stranger.example'}" },
      {},
    ],
    [
      "for embeddings on Azure",
      {
        ".env":
          "AZURE_OPENAI_ENDPOINT=https://stranger.example\nAZURE_OPENAI_EMBEDDER_NAME=m\nLLM_PROVIDER=openai",
      },
      {},
    ],
    [
      "for a microsandbox",
      { ".env": "MSB_SERVER_URL=https://stranger.example" },
      { env: { MSB_API_KEY: "k" } },
    ],
    [
      "with a key from arguments",
      { "config.yaml": ELSEWHERE },
      { env: {}, overrides: { llm: { apiKey: "k" } } },
    ],
    ["though .env trusts the folder", { "config.yaml": ELSEWHERE, ".env": "CEM_TRUST_FOLDER=1" }, {}],
    [
      "though another folder is trusted",
      { "config.yaml": ELSEWHERE },
      { env: { ...ENV, CEM_TRUST_FOLDER: "/" } },
    ],
    [
      "on a host that only looks like this machine",
      { "config.yaml": "llm: {enabled: true, base_url: 'http://127.0.0.1.stranger.example'}" },
      {},
    ],
  ])("does not get it %s", async (_, files, options) => {
    expect(await refusal(files, options)).toMatch(
      /would send your key \(.*stranger\.example, which only files of this folder/u,
    );
  });

  it("gets a key that stands beside it", async () => {
    const files = { "config.yaml": ELSEWHERE, ".env": "OPENAI_API_KEY=sk-of-the-folder" };
    expect(await load(files, { env: {} })).toEqual({ key: "sk-of-the-folder", warnings: [] });
  });

  it("gets the key where the user named the file, the URL or the folder", async () => {
    const cwd = await folderWith({ "mine.yaml": ELSEWHERE, "config.yaml": ELSEWHERE });
    const url = "https://mine.example";
    const named: LoadConfigOptions[] = [
      { file: "mine.yaml" },
      { env: { ...ENV, CEM_CONFIG: "mine.yaml" } },
      { env: { ...ENV, LLM_BASE_URL: url } },
      { overrides: { llm: { baseUrl: url } } },
      { env: { ...ENV, CEM_TRUST_FOLDER: "1" } },
      { env: { ...ENV, CEM_TRUST_FOLDER: ["/elsewhere", cwd].join(path.delimiter) } },
    ];
    for (const options of named) {
      const { config } = await loadConfig({ cwd, env: ENV, ...options });
      expect(config.llm.apiKey?.reveal()).toBe("sk-of-the-user");
    }
  });

  it.each(["http://localhost:4000/v1", "http://127.0.0.1:8080", "http://[::1]:1234/v1"])(
    "gets the key without ceremony on this machine: %s",
    async (url) => {
      const files = { "config.yaml": `llm: {enabled: true, base_url: '${url}'}` };
      expect(await load(files)).toEqual({ key: "sk-of-the-user", warnings: [] });
    },
  );

  it("is no matter where nothing would be sent", async () => {
    const unused = { "config.yaml": ELSEWHERE.replace("enabled: true", "enabled: false") };
    expect((await load(unused)).key).toBe("sk-of-the-user");
    expect((await load({ "config.yaml": ELSEWHERE }, { env: {} })).key).toBeUndefined();
    const azure = { ".env": "LLM_PROVIDER=openai\nLLM_ENABLED=1\nAZURE_OPENAI_ENDPOINT=https://a.example" };
    expect((await load(azure)).key).toBe("sk-of-the-user");
  });
});

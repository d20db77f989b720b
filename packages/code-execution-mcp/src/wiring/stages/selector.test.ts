import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { loadConfig } from "@cem/config";
import type { ConfigInput } from "@cem/config";
import type { ToolDefinition } from "@cem/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createConfiguredSelector, inspectSearch } from "./selector.ts";

interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
  model: string;
}

let folder: string;
let origin: string;
const asked: Asked[] = [];

/** Embeds everything as the same vector, and remembers who asked. */
const server = createServer((request, response) => {
  void (async () => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { input, model } = JSON.parse(body) as { input: string[]; model: string };
    asked.push({ path: request.url ?? "", headers: request.headers, model });
    const data = input.map((_, index) => ({ object: "embedding", index, embedding: [1, 0] }));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
  })();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-selector-"));
  asked.length = 0;
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const tools: ToolDefinition[] = [
  {
    server: "weather",
    name: "get_weather",
    kind: "local",
    description: "Get the weather.",
    inputSchema: { type: "object" },
    callStyle: "object",
    signature: "get_weather()",
    module: "./servers/weather/index.ts",
  },
];

async function search(overrides: ConfigInput, env: Record<string, string> = {}) {
  const { config } = await loadConfig({ cwd: folder, env, config: overrides });
  const selector = await createConfiguredSelector(config);
  await selector.prepare(tools);
  const { notes = [] } = await selector.select({ task: "weather", tools });
  const heard: string[] = [];
  await selector.search({ task: "weather", tools, onNote: (note) => heard.push(note) });
  await selector.dispose();
  expect(heard).toEqual(notes);
  return { notes, report: await inspectSearch(config) };
}

describe("createConfiguredSelector", () => {
  it("compares words where no model is named, and says so", async () => {
    expect(await search({})).toEqual({ notes: ["by words only: no embedding model is set"], report: {} });
    expect(asked).toEqual([]);
  });

  it("asks a service for what llm.embedding_model names, with the key and where the configuration says", async () => {
    const llm = { embeddingModel: "small", baseUrl: `${origin}/v1`, apiKey: "k-1" };
    expect(await search({ llm })).toEqual({
      notes: ["by words and by meaning"],
      report: { embedder: "small" },
    });
    expect(asked[0]).toMatchObject({
      path: "/v1/embeddings",
      model: "small",
      headers: { authorization: "Bearer k-1" },
    });
    expect(await readdir(path.join(folder, ".cem/search"))).toHaveLength(1);
  });

  it("asks Azure as its variables say, before another service", async () => {
    const env = {
      AZURE_OPENAI_ENDPOINT: origin,
      AZURE_OPENAI_API_KEY: "k-2",
      AZURE_OPENAI_EMBEDDER_NAME: "my-small",
      AZURE_OPENAI_EMBEDDER_VERSION: "2024-02-01",
    };
    const { notes, report } = await search({ llm: { embeddingModel: "other" } }, env);
    expect([notes, report]).toEqual([["by words and by meaning"], { embedder: "my-small on Azure" }]);
    expect(asked[0]).toMatchObject({
      path: "/openai/deployments/my-small/embeddings?api-version=2024-02-01",
      headers: { "api-key": "k-2" },
    });
  });

  it("takes a model on disk before any service, and says what is wrong with it", async () => {
    const optimizations = { embeddingModelDir: path.join(folder, "no-model") };
    const { notes, report } = await search({ optimizations, llm: { embeddingModel: "m", baseUrl: origin } });
    expect(notes.join()).toMatch(/^by words only: /u);
    expect(report).toMatchObject({ embedder: optimizations.embeddingModelDir, problem: /is missing/u });
    expect(asked).toEqual([]);
  });

  it("keeps nothing on disk where tool_cache is off", async () => {
    const llm = { embeddingModel: "small", baseUrl: `${origin}/v1`, apiKey: "k" };
    await search({ llm, optimizations: { toolCache: false } });
    expect(await readdir(folder)).toEqual([]);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startEmbeddingsServer, type EmbeddingsServer } from "../testing/embeddings-server.ts";
import { createOpenAiEmbedder } from "./openai-embedder.ts";

let server: EmbeddingsServer;

beforeAll(async () => {
  server = await startEmbeddingsServer();
});
beforeEach(() => {
  server.requests.length = 0;
  server.failures.length = 0;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

function embedder(settings: { timeoutMs?: number } = {}) {
  return createOpenAiEmbedder({
    model: "text-embedding-3-small",
    apiKey: "sk-test",
    baseUrl: `${server.url}/v1`,
    ...settings,
  });
}

describe("createOpenAiEmbedder", () => {
  describe("embed", () => {
    it("gives a vector for each text, in their order", async () => {
      const vectors = await embedder().embed(["read a file", "sunny weather"], { kind: "document" });
      expect(vectors.map((vector) => [...vector].map(Math.round))).toEqual([
        [0, 0, 2, 0, 0, 0, 0],
        [2, 0, 0, 0, 0, 0, 0],
      ]);
      expect(server.requests).toMatchObject([
        { path: "/v1/embeddings", authorization: "Bearer sk-test", model: "text-embedding-3-small" },
      ]);
    });

    it("sends many texts in batches", async () => {
      const texts = Array.from({ length: 600 }, (_, at) => `text ${at}`);
      expect(await embedder().embed(texts, { kind: "document" })).toHaveLength(600);
      expect(server.requests.map(({ input }) => input.length)).toEqual([256, 256, 88]);
    });

    it("asks Azure by deployment and version", async () => {
      const azure = { endpoint: server.url, apiVersion: "2024-06-01" };
      const own = createOpenAiEmbedder({ model: "my-embedder", apiKey: "az-test", azure });
      expect(await own.embed(["weather"], { kind: "query" })).toHaveLength(1);
      expect(server.requests).toMatchObject([
        { path: "/openai/deployments/my-embedder/embeddings?api-version=2024-06-01", apiKey: "az-test" },
      ]);
    });

    it("tries again when the service is busy", async () => {
      server.failures.push(429, 500);
      expect(await embedder().embed(["weather"], { kind: "query" })).toHaveLength(1);
      expect(server.requests).toHaveLength(3);
    });

    it.each([
      ["a refusal", 401, "refused with 401"],
      ["an answer without vectors", 0, "does not hold 1 vectors"],
    ])("says what was wrong with %s, and works again after", async (_, status, message) => {
      const own = embedder();
      server.failures.push(status);
      await expect(own.embed(["weather"], { kind: "query" })).rejects.toMatchObject({
        code: "EMBEDDER_FAILED",
        message: expect.stringContaining(message) as string,
      });
      expect(await own.embed(["weather"], { kind: "query" })).toHaveLength(1);
    });

    it("stops when it is told to", async () => {
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(embedder().embed(["weather"], { kind: "query", signal })).rejects.toThrow("enough");
      expect(server.requests).toEqual([]);
    });
  });
});

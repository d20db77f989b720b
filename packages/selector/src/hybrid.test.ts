import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSelector, createTransformersEmbedder, type Embedder } from "./index.ts";
import { type EmbeddingsServer, startEmbeddingsServer } from "./testing/embeddings-server.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";
import { createOpenAiEmbedder } from "./semantic/openai-embedder.ts";

/** No word of it is in any tool; `umbrella` is in the model's meaning of weather. */
const BY_MEANING = "do I want my umbrella";

let folder: string;
let server: EmbeddingsServer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "cem-hybrid-"));
  server = await startEmbeddingsServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The embedder, counting what it is asked for. */
function counting(inner: Embedder) {
  const asked = { query: 0, document: 0 };
  const embedder: Embedder = {
    specificationVersion: "v1",
    id: inner.id,
    embed: (texts, options) => {
      asked[options.kind] += texts.length;
      return inner.embed(texts, options);
    },
    dispose: async () => inner.dispose?.(),
  };
  return { asked, embedder };
}

function embedderOfServer(): Embedder {
  return createOpenAiEmbedder({ model: "m", apiKey: "k", baseUrl: `${server.url}/v1` });
}

function embedderWithoutModel(): Embedder {
  return createTransformersEmbedder({ modelDir: path.join(folder, "none") });
}

const request = { task: BY_MEANING, tools: sampleTools };

describe("createSelector", () => {
  describe("search with an embedder", () => {
    it("finds by meaning what no word finds", async () => {
      expect(await createSelector().search(request)).toEqual([]);
      const selector = createSelector({ embedder: embedderOfServer() });
      await selector.prepare(sampleTools);
      expect(selector.semantics).toEqual({ state: "ready" });
      const [first] = await selector.search(request);
      expect(first).toMatchObject({ tool: { server: "weather" }, reason: "close in meaning" });
      await selector.dispose();
    });

    it("answers by words at once, while the tools are being embedded", async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const inner = embedderOfServer();
      const selector = createSelector({
        embedder: {
          specificationVersion: "v1",
          id: "slow",
          embed: async (texts, options) => {
            await promise;
            return inner.embed(texts, options);
          },
        },
      });
      const [first] = await selector.search({ task: "list tables", tools: sampleTools });
      expect(first?.tool.name).toBe("list_tables");
      const { notes } = await selector.select({ task: "list tables", tools: sampleTools });
      const total = sampleTools.length;
      expect(notes).toEqual([`by words only: the tools are still being embedded (0 of ${total})`]);
      expect(selector.semantics).toMatchObject({ state: "computing", total: sampleTools.length });
      resolve();
      await selector.prepare(sampleTools);
      expect((await selector.search(request))[0]?.tool.server).toBe("weather");
      expect((await selector.select(request)).notes).toEqual(["by words and by meaning"]);
      await inner.dispose?.();
    });

    it("waits for the vectors where it is told to, also for the reason why there are none", async () => {
      const patienceMs = 60_000;
      const selector = createSelector({ embedder: embedderOfServer(), patienceMs });
      const notes: string[] = [];
      const onNote = (note: string) => void notes.push(note);
      expect((await selector.search({ ...request, onNote }))[0]?.tool.server).toBe("weather");
      await selector.dispose();
      const embedder = embedderWithoutModel();
      await createSelector({ embedder, patienceMs }).search({ ...request, onNote });
      expect(notes).toEqual([
        "by words and by meaning",
        expect.stringMatching(/^by words only: There is no embedding model in /u),
        expect.stringMatching(/^no close match/u),
      ]);
    });

    it("says why there is no embedder", async () => {
      const selector = createSelector();
      expect((await selector.select(request)).notes).toEqual(["by words only: no embedding model is set"]);
    });

    it("finds nothing where neither a word nor the meaning is near", async () => {
      const selector = createSelector({ embedder: embedderOfServer() });
      await selector.prepare(sampleTools);
      expect(await selector.search({ task: "play a song", tools: sampleTools })).toEqual([]);
      const found = await selector.search({ task: "weather forecast tomorrow", tools: sampleTools });
      expect(found.map(({ tool }) => tool.server)).not.toContain("filesystem");
      await selector.dispose();
    });

    it("keeps a tool that is named first", async () => {
      const selector = createSelector({ embedder: embedderOfServer() });
      await selector.prepare(sampleTools);
      const task = "call write_file about my umbrella and the sunny weather forecast";
      expect((await selector.search({ task, tools: sampleTools }))[0]?.tool.name).toBe("write_file");
      await selector.dispose();
    });

    it("embeds a tool once, also for the next process", async () => {
      const cacheDir = path.join(folder, "cache");
      const first = counting(embedderOfServer());
      const selector = createSelector({ embedder: first.embedder, cacheDir });
      await selector.prepare(sampleTools);
      const more = [...sampleTools, tool("mail", "send_email", "Send an email message.")];
      await selector.prepare(more);
      expect(first.asked.document).toBe(more.length);
      await selector.dispose();

      const second = counting(embedderOfServer());
      const next = createSelector({ embedder: second.embedder, cacheDir });
      await next.prepare(more);
      expect(second.asked.document).toBe(0);
      expect((await next.search({ task: BY_MEANING, tools: more }))[0]?.tool.server).toBe("weather");
      await next.dispose();
    });

    it("embeds again what a broken file held", async () => {
      const cacheDir = path.join(folder, "broken");
      const selector = createSelector({ embedder: embedderOfServer(), cacheDir });
      await selector.prepare(sampleTools);
      await selector.dispose();
      const [name = ""] = await readdir(cacheDir);
      const file = path.join(cacheDir, name);
      const { length } = await readFile(file);
      for (const spoil of [() => truncate(file, length - 3), () => writeFile(file, "no vectors at all")]) {
        await spoil();
        const { asked, embedder } = counting(embedderOfServer());
        const next = createSelector({ embedder, cacheDir });
        await next.prepare(sampleTools);
        expect(asked.document).toBe(sampleTools.length);
        expect((await next.search(request))[0]?.tool.server).toBe("weather");
        await next.dispose();
      }
    });

    it("goes on by words when the model is missing, and says so", async () => {
      const embedder = embedderWithoutModel();
      const selector = createSelector({ embedder });
      await selector.prepare(sampleTools);
      expect(selector.semantics).toMatchObject({ state: "failed" });
      const { selected, notes } = await selector.select({ task: "list tables", tools: sampleTools });
      expect(selected[0]?.tool.name).toBe("list_tables");
      expect(notes?.[0]).toMatch(/^by words only: There is no embedding model in /u);
      await selector.dispose();
    });

    it("goes on by words when vectors make no sense", async () => {
      const embed: Embedder["embed"] = async (texts) =>
        texts.map((_, at) => new Float32Array(at % 2 === 0 ? 3 : 4));
      const selector = createSelector({ embedder: { specificationVersion: "v1", id: "odd", embed } });
      await selector.prepare(sampleTools);
      expect(selector.semantics).toMatchObject({ state: "failed" });
      const [first] = await selector.search({ task: "list tables", tools: sampleTools });
      expect(first?.tool.name).toBe("list_tables");
    });

    const infinite = [1, Infinity];
    it.each([
      ["NaN for a tool", () => [NaN, 1], /finite/u],
      ["an infinite number for a text", (kind: string) => (kind === "query" ? infinite : [1, 0]), /finite/u],
      ["nothing in it", () => [], /empty/u],
      ["another length for a text", (kind: string) => (kind === "query" ? [1] : [1, 0]), /lengths/u],
    ])("goes on by words when a vector has %s", async (_, vectorOf, reason) => {
      const embed: Embedder["embed"] = async (texts, { kind }) => texts.map(() => vectorOf(kind));
      const selector = createSelector({ embedder: { specificationVersion: "v1", id: "odd", embed } });
      await selector.prepare(sampleTools);
      const { selected, notes } = await selector.select({ task: "list tables", tools: sampleTools });
      expect(selected[0]?.tool.name).toBe("list_tables");
      expect(notes?.[0]).toMatch(reason);
      expect(selector.semantics).toMatchObject({ state: "failed", reason: expect.stringMatching(reason) });
    });

    it("takes vectors as plain lists", async () => {
      const inner = embedderOfServer();
      const embed: Embedder["embed"] = async (...asked) =>
        (await inner.embed(...asked)).map((vector) => Array.from(vector));
      const selector = createSelector({ embedder: { ...inner, embed } });
      await selector.prepare(sampleTools);
      expect((await selector.search({ ...request, limit: 1.5 }))[0]?.tool.server).toBe("weather");
      await selector.dispose();
    });

    it.each(["document", "query"])("is disposed while a vector for a %s never comes", async (never) => {
      const embed: Embedder["embed"] = (texts, { kind }) =>
        kind === never ? new Promise(() => {}) : Promise.resolve(texts.map(() => [1, 0]));
      const selector = createSelector({ embedder: { specificationVersion: "v1", id: "stuck", embed } });
      const prepared = selector.prepare(sampleTools);
      if (never === "query") await prepared;
      const { signal } = new AbortController();
      const found = selector.search({ task: "list tables", tools: sampleTools, signal });
      await selector.dispose();
      await prepared;
      expect((await found)[0]?.tool.name).toBe("list_tables");
    });

    it("asks for the vector of a text once", async () => {
      const selector = createSelector({ embedder: embedderOfServer() });
      await selector.prepare(sampleTools);
      await selector.search(request);
      const asked = server.requests.length;
      await selector.search(request);
      expect(server.requests).toHaveLength(asked);
      await selector.dispose();
    });
  });
});

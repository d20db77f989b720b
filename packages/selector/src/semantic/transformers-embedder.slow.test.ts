import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installTransformers } from "../testing/install-transformers.ts";
import { TINY_DIMENSIONS, writeTinyModel } from "../testing/tiny-model.ts";
import type { Embedder } from "./semantic-search.ts";
import { createTransformersEmbedder } from "./transformers-embedder.ts";

const INSTALL_TIMEOUT_MS = 180_000;

let modelDir: string;
let library: string;
let embedder: Embedder;

beforeAll(async () => {
  modelDir = path.join(await mkdtemp(path.join(tmpdir(), "cem-model-")), "tiny");
  await writeTinyModel(modelDir);
  library = await installTransformers();
  embedder = createTransformersEmbedder({ modelDir, library });
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  await embedder.dispose?.();
  await rm(path.dirname(modelDir), { recursive: true, force: true });
});

function cosine(one: ArrayLike<number> = [], other: ArrayLike<number> = []): number {
  return Array.from(one).reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}

describe("createTransformersEmbedder", () => {
  describe("embed", () => {
    it("gives texts of one meaning close vectors, and others far ones", async () => {
      const texts = ["is it sunny", "the temperature", "play a song"];
      const [sunny, temperature, song] = await embedder.embed(texts, { kind: "query" });
      expect(sunny).toHaveLength(TINY_DIMENSIONS);
      expect(cosine(sunny, temperature)).toBeGreaterThan(0.9);
      expect(cosine(sunny, song)).toBeLessThan(0.5);
    });

    it("gives a text the same vector alone and among others", async () => {
      const texts = Array.from({ length: 40 }, (_, at) => `${"weather ".repeat(at + 1)}file`);
      const together = await embedder.embed(texts, { kind: "document" });
      const [alone] = await embedder.embed(texts.slice(7, 8), { kind: "document" });
      expect(together).toHaveLength(40);
      for (const [at, value] of (alone ?? []).entries()) expect(together[7]?.[at]).toBeCloseTo(value, 4);
    });

    it("answers calls that overlap", async () => {
      const texts = ["weather", "song", "email"];
      const vectors = await Promise.all(texts.map((text) => embedder.embed([text], { kind: "query" })));
      expect(vectors.map(([vector]) => vector?.findIndex((value) => value > 0.9))).toEqual([0, 4, 3]);
    });

    it("takes quantized weights where the folder has them", async () => {
      const quantized = path.join(path.dirname(modelDir), "quantized");
      await writeTinyModel(quantized, "model_quantized.onnx");
      const own = createTransformersEmbedder({ modelDir: quantized, library });
      expect(await own.embed(["weather"], { kind: "query" })).toEqual(
        await embedder.embed(["weather"], { kind: "query" }),
      );
      await own.dispose?.();
    });

    it("says which folder has no model", async () => {
      const own = createTransformersEmbedder({ modelDir: path.join(modelDir, "nowhere"), library });
      await expect(own.embed(["weather"], { kind: "query" })).rejects.toMatchObject({
        code: "EMBEDDER_MODEL_NOT_FOUND",
        message: expect.stringContaining("nowhere") as string,
      });
    });

    it("says what to install", async () => {
      const own = createTransformersEmbedder({ modelDir, library: "@cem/not-installed" });
      await expect(own.embed(["weather"], { kind: "query" })).rejects.toMatchObject({
        code: "EMBEDDER_FAILED",
        message: expect.stringContaining("npm install @cem/not-installed") as string,
      });
      await own.dispose?.();
    });

    it("stops waiting when it is told to, and when it is disposed", async () => {
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(embedder.embed(["weather"], { kind: "query", signal })).rejects.toThrow("enough");
      const own = createTransformersEmbedder({ modelDir, library });
      const waiting = Promise.allSettled([own.embed(["weather"], { kind: "query" })]);
      await own.dispose?.();
      expect(await waiting).toMatchObject([{ status: "rejected", reason: { code: "EMBEDDER_FAILED" } }]);
    });
  });
});

import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHubServer } from "../../../packages/selector/src/testing/hub-server.ts";
import type { HubServer } from "../../../packages/selector/src/testing/hub-server.ts";
import { installTransformers } from "../../../packages/selector/src/testing/install-transformers.ts";
import { writeTinyModel } from "../../../packages/selector/src/testing/tiny-model.ts";
import { runCem, SAMPLES, startCem, temporaryFolder } from "./testing/run-cem.ts";
import type { Ended } from "./testing/run-cem.ts";

const INSTALL_TIMEOUT_MS = 180_000;
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
/** No word of it is in any tool; `umbrella` is in the model's meaning of weather. */
const BY_MEANING = "do I want my umbrella";

let cwd: string;
let hub: HubServer;
let env: Record<string, string>;

beforeAll(async () => {
  cwd = temporaryFolder();
  const source = path.join(cwd, "source");
  await writeTinyModel(source, "model_quantized.onnx");
  hub = await startHubServer({ "cem/tiny": source, "Xenova/all-MiniLM-L6-v2": source }, COMMIT);
  env = { HF_ENDPOINT: hub.url, CEM_MODELS_DIR: path.join(cwd, "models") };
  // As after npm install in the project.
  const library = path.dirname(path.dirname(fileURLToPath(await installTransformers())));
  mkdirSync(path.join(cwd, "node_modules/@huggingface"), { recursive: true });
  symlinkSync(library, path.join(cwd, "node_modules/@huggingface/transformers"), "dir");
}, INSTALL_TIMEOUT_MS);

afterAll(() => hub[Symbol.asyncDispose]());

const cem = (...args: string[]): Promise<Ended> => runCem([...args, ...SAMPLES], { cwd, env });
const models = (): string[] => readdirSync(path.join(cwd, "models"));

describe("cem model pull", () => {
  it("says before it was done that search is by words alone, and how to change that", async () => {
    const { stdout } = await cem("search", BY_MEANING);
    expect(stdout).toContain("by words only: no embedding model is set");
    expect((await cem("doctor")).stdout).toMatch(/search +by words only: .*\n +cem model pull loads/u);
  });

  it("loads a model, with its progress, and search then compares by meaning, in one step more", async () => {
    const { code, stdout, stderr } = await cem("model", "pull", "cem/tiny");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const file of [
      "config.json",
      "tokenizer.json",
      "tokenizer_config.json",
      "onnx/model_quantized.onnx",
    ]) {
      expect(stdout).toMatch(
        new RegExp(`^ {2}pull +${file.replaceAll(".", String.raw`\.`)} +[\\d.]+ (?:bytes|kB)$`, "mu"),
      );
    }
    expect(stdout).toContain(`cem/tiny at ${COMMIT}`);
    expect(stdout).toContain("To use it, set optimizations.embedding_model: cem/tiny");

    writeFileSync(path.join(cwd, "config.yaml"), "optimizations: {embedding_model: cem/tiny}\n");
    const found = await cem("search", BY_MEANING);
    expect(found.stdout).toMatch(/^\s+[\d.]+ {2}weather\./u);
    expect(found.stdout).toContain("by words and by meaning");
    expect((await cem("doctor")).stdout).toMatch(
      /^ {2}search +by words and by meaning, with cem\/tiny at 0123456789ab +ok$/mu,
    );
    const again = JSON.parse((await cem("model", "pull", "--json")).stdout) as object;
    expect(again).toMatchObject({ status: "success", model: "cem/tiny", revision: COMMIT, used: true });
  });

  it("refuses what was changed since, and says what helps", async () => {
    const file = path.join(cwd, "models/cem--tiny/tokenizer_config.json");
    writeFileSync(file, "{}");
    expect((await cem("search", BY_MEANING)).stdout).toMatch(
      /by words only: .*tokenizer_config\.json is not as it was pulled/u,
    );
    expect((await cem("doctor")).stdout.replaceAll(/\s+/gu, " ")).toMatch(
      /tokenizer_config\.json is not as it was pulled: .* Pull it again: cem model pull/u,
    );
    expect((await cem("model", "pull")).code).toBe(0);
    expect((await cem("search", BY_MEANING)).stdout).toContain("by words and by meaning");
  });

  it("fails for files that are not those known for the default model", async () => {
    const before = models();
    const { code, stderr } = await cem("model", "pull", "Xenova/all-MiniLM-L6-v2");
    expect(code).toBe(1);
    expect(stderr).toContain("is not the file that is known for Xenova/all-MiniLM-L6-v2");
    expect(stderr).toContain("optimizations.model_mirror (HF_ENDPOINT)");
    expect(models()).toEqual(before);
  });

  it("leaves no half file at Ctrl-C", async () => {
    const before = models();
    hub.faults.set("onnx/model_quantized.onnx", "stalls");
    const asked = hub.requests.length;
    const running = startCem(["model", "pull", "cem/tiny@other"], { cwd, env });
    await expect
      .poll(() => hub.requests.slice(asked).some(({ path }) => path.startsWith("/stored/")), {
        timeout: 20_000,
      })
      .toBe(true);
    running.signal("SIGINT");
    expect((await running.ended).code).toBe(130);
    hub.faults.clear();
    expect(models()).toEqual(before);
  });

  it("says what to set where the server is away, and that search goes on", async () => {
    const away = { ...env, HF_ENDPOINT: "http://127.0.0.1:9" };
    const { code, stderr } = await runCem(["model", "pull"], { cwd, env: away });
    expect(code).toBe(1);
    expect(stderr).toMatch(/can't be reached: .*\n.*optimizations\.model_mirror \(HF_ENDPOINT\)/u);
  });

  it("uses no model that is not pulled, and never pulls one itself", async () => {
    writeFileSync(path.join(cwd, "config.yaml"), "optimizations: {embedding_model: cem/other}\n");
    const asked = hub.requests.length;
    expect((await cem("search", BY_MEANING)).stdout).toContain(
      "by words only: cem/other is not pulled: cem model pull cem/other",
    );
    expect((await cem("doctor")).stdout).toContain("cem/other is not pulled");
    expect(hub.requests).toHaveLength(asked);
  });
});

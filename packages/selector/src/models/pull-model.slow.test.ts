import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSelector, createTransformersEmbedder, findModel, pullModel } from "../index.ts";
import type { PullModelSettings, PullProgress } from "../index.ts";
import { startHubServer, type HubServer } from "../testing/hub-server.ts";
import { installTransformers } from "../testing/install-transformers.ts";
import { sampleTools } from "../testing/sample-tools.ts";
import { writeTinyModel } from "../testing/tiny-model.ts";

const INSTALL_TIMEOUT_MS = 180_000;
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const MODEL = "cem/tiny";
const FILES = ["config.json", "onnx/model_quantized.onnx", "tokenizer.json", "tokenizer_config.json"];

let folder: string;
let source: string;
let library: string;
let modelsDir: string;
let hub: HubServer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "cem-pull-"));
  source = path.join(folder, "source");
  await writeTinyModel(source, "model_quantized.onnx");
  library = await installTransformers();
}, INSTALL_TIMEOUT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

beforeEach(async () => {
  modelsDir = await mkdtemp(path.join(folder, "models-"));
  hub = await startHubServer({ [MODEL]: source, tiny: source, "Xenova/all-MiniLM-L6-v2": source }, COMMIT);
});

afterEach(() => hub[Symbol.asyncDispose]());

const pull = (more: Partial<PullModelSettings> = {}) =>
  pullModel({ model: MODEL, modelsDir, mirror: hub.url, library, ...more });

describe("pullModel", () => {
  it("pulls a model that then compares by meaning, without a server", async () => {
    const pulled = await pull();
    await hub[Symbol.asyncDispose]();
    expect(pulled.folder).toBe(path.join(modelsDir, "cem--tiny"));
    const found = await findModel(modelsDir, MODEL);
    expect(found).toEqual(pulled);
    const embedder = createTransformersEmbedder({ modelDir: pulled.folder, lock: pulled.lock, library });
    const selector = createSelector({ embedder });
    await selector.prepare(sampleTools);
    const [first] = await selector.search({ task: "do I want my umbrella", tools: sampleTools });
    expect(first).toMatchObject({ tool: { server: "weather" }, reason: "close in meaning" });
    await selector.dispose();
  });

  it("asks the hub's paths, for the commit that the name stands for", async () => {
    const { lock } = await pull();
    expect(lock).toMatchObject({ model: MODEL, revision: COMMIT, source: hub.url, dtype: "q8" });
    expect(Object.keys(lock.files).toSorted()).toEqual(FILES);
    const [first, ...others] = hub.requests;
    expect(first).toMatchObject({
      method: "HEAD",
      path: `/${MODEL}/resolve/main/onnx/model_quantized.onnx`,
    });
    const base = `/${MODEL}/resolve/${COMMIT}/`;
    expect(others.every((asked) => asked.path.replace(/^\/stored/u, "").startsWith(base))).toBe(true);
  });

  it("takes the revision that is asked for, and keeps it apart", async () => {
    hub.tellsCommit = false;
    const asked = await pull({ model: `${MODEL}@v1.0` });
    expect(asked.folder).toBe(path.join(modelsDir, "cem--tiny@v1.0"));
    expect(asked.lock.revision).toBe("v1.0");
    const branch = await pull({ model: "tiny" });
    expect(branch.lock.revision).toBe("main");
    expect(await readdir(branch.folder)).toContain("model-lock.json");
    expect(await findModel(modelsDir, MODEL)).toBeUndefined();
  });

  it("takes the full weights where there are no quantized ones", async () => {
    const full = path.join(folder, "full");
    await writeTinyModel(full);
    await using other = await startHubServer({ [MODEL]: full }, COMMIT);
    const { lock } = await pull({ mirror: other.url });
    expect(lock.dtype).toBe("fp32");
    expect(Object.keys(lock.files)).toContain("onnx/model.onnx");
  });

  it("tells the progress of each file", async () => {
    const seen: PullProgress[] = [];
    const { lock } = await pull({ onProgress: (progress) => seen.push(progress) });
    const done = seen.filter((progress) => progress.done);
    expect(done.map(({ file }) => file).toSorted()).toEqual(FILES);
    for (const { file, loaded, total } of done) {
      expect(loaded).toBe(lock.files[file]?.bytes);
      expect(total).toBe(loaded);
    }
    expect(seen.some((progress) => !progress.done && progress.total !== undefined)).toBe(true);
  });

  it("replaces a model only when the new one is complete", async () => {
    const before = await pull();
    hub.faults.set("onnx/model_quantized.onnx", "breaks");
    await expect(pull()).rejects.toMatchObject({ code: "EMBEDDER_PULL_FAILED" });
    expect(await findModel(modelsDir, MODEL)).toEqual(before);
    hub.faults.clear();
    await pull();
    expect(await readdir(modelsDir)).toEqual(["cem--tiny"]);
  });

  it("removes what a pull left that was killed long ago", async () => {
    const left = path.join(modelsDir, ".pulling-old");
    await mkdir(left);
    const { utimes } = await import("node:fs/promises");
    await utimes(left, 0, 0);
    await mkdir(path.join(modelsDir, ".pulling-now"));
    await pull();
    expect((await readdir(modelsDir)).toSorted()).toEqual([".pulling-now", "cem--tiny"]);
  });

  describe("leaves nothing and says why", () => {
    const expectRefusal = async (pulling: Promise<unknown>, error: object): Promise<void> => {
      await expect(pulling).rejects.toMatchObject(error);
      expect(await readdir(modelsDir)).toEqual([]);
    };

    it("when a file is not the one that is known for the model", async () => {
      await expectRefusal(pull({ model: undefined }), {
        code: "EMBEDDER_MODEL_CHANGED",
        message: expect.stringMatching(
          // Files are fetched beside each other: any of them may be the first to be refused.
          /\/\S+ is not the file that is known for Xenova\/all-MiniLM-L6-v2: its digest is [0-9a-f]{64}, not [0-9a-f]{8}/,
        ) as string,
      });
      const revision = "751bff37182d3f1213fa05d7196b954e230abad9";
      expect(hub.requests[0]?.path).toContain(`/resolve/${revision}/`);
    });

    it("when a file is missing", async () => {
      hub.faults.set("tokenizer.json", 404);
      await expectRefusal(pull(), {
        code: "EMBEDDER_MODEL_NOT_FOUND",
        message: expect.stringMatching(/tokenizer\.json does not exist, or not for you \(404\)/) as string,
      });
    });

    it("when there is no such model", async () => {
      await expectRefusal(pull({ model: "cem/none" }), {
        code: "EMBEDDER_MODEL_NOT_FOUND",
        message: expect.stringContaining(`${hub.url}/cem/none/resolve/main/`) as string,
      });
    });

    it("when a model needs a sign-in", async () => {
      hub.faults.set("tokenizer.json", 401);
      await expectRefusal(pull(), {
        code: "EMBEDDER_MODEL_NOT_FOUND",
        message: expect.stringContaining("HF_TOKEN") as string,
      });
    });

    it("when the server fails", async () => {
      hub.faults.set("onnx/model_quantized.onnx", 503);
      await expectRefusal(pull(), {
        code: "EMBEDDER_PULL_FAILED",
        message: expect.stringContaining("was answered with status 503") as string,
      });
    });

    it("when the server is away", async () => {
      const mirror = hub.url;
      await hub[Symbol.asyncDispose]();
      await expectRefusal(pull({ mirror }), {
        code: "EMBEDDER_PULL_FAILED",
        message: expect.stringMatching(/can't be reached: ECONNREFUSED\.$/) as string,
      });
    });

    it("when the connection ends within a file", async () => {
      hub.faults.set("onnx/model_quantized.onnx", "breaks");
      await expectRefusal(pull(), {
        code: "EMBEDDER_PULL_FAILED",
        message: expect.stringMatching(/model_quantized\.onnx can't be reached: /) as string,
      });
    });

    it("when it is aborted within a file", async () => {
      hub.faults.set("onnx/model_quantized.onnx", "stalls");
      const controller = new AbortController();
      const pulling = pull({
        signal: controller.signal,
        onProgress: ({ file }) => {
          if (file.endsWith(".onnx")) controller.abort(new Error("enough"));
        },
      });
      await expect(pulling).rejects.toThrow("enough");
      expect(await readdir(modelsDir)).toEqual([]);
    });

    it("when what was pulled is no model", async () => {
      hub.faults.set("onnx/model_quantized.onnx", Buffer.from("no weights at all"));
      await expectRefusal(pull(), {
        code: "EMBEDDER_FAILED",
        message: expect.stringContaining("cem/tiny can't be used as an embedding model") as string,
      });
      hub.faults.clear();
      hub.faults.set("tokenizer.json", Buffer.from("{"));
      await expectRefusal(pull(), { code: "EMBEDDER_FAILED" });
    });

    it("when the library is not installed", async () => {
      await expectRefusal(pull({ library: "@cem/not-installed" }), {
        code: "EMBEDDER_FAILED",
        message: expect.stringContaining("npm install @cem/not-installed") as string,
      });
    });

    it.each(["../secrets", "a/b/c", "a--b", "", "https://hub.example/a", "a@../b"])(
      "when %j is no name",
      async (model) => {
        await expectRefusal(pull({ model }), { code: "EMBEDDER_MODEL_NOT_FOUND" });
        expect(hub.requests).toEqual([]);
      },
    );
  });

  it("says so when the folder can't be made", async () => {
    const file = path.join(folder, "a-file");
    await writeFile(file, "");
    await expect(pull({ modelsDir: path.join(file, "models") })).rejects.toMatchObject({
      code: "EMBEDDER_PULL_FAILED",
      message: expect.stringContaining("can't be kept") as string,
    });
  });
});

describe("a model that was pulled", () => {
  /** Embeds with a copy of the pulled model that was changed. */
  async function embedWith(change: (copy: string) => Promise<unknown>): Promise<unknown> {
    const { folder: pulled } = await pull();
    const copy = path.join(modelsDir, "copy");
    await cp(pulled, copy, { recursive: true });
    await change(copy);
    const found = await findModel(modelsDir, "copy");
    if (found === undefined) throw new Error("no model");
    const embedder = createTransformersEmbedder({ modelDir: copy, lock: found.lock, library });
    try {
      return await embedder.embed(["weather"], { kind: "query" });
    } finally {
      await embedder.dispose?.();
    }
  }

  it("is loaded when nothing was changed", async () => {
    expect(await embedWith(async () => {})).toHaveLength(1);
  });

  it("is refused when a file was changed", async () => {
    const changed = embedWith(async (copy) => {
      const file = path.join(copy, "onnx/model_quantized.onnx");
      const bytes = await readFile(file);
      bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
      await writeFile(file, bytes);
    });
    await expect(changed).rejects.toMatchObject({
      code: "EMBEDDER_MODEL_CHANGED",
      message: expect.stringMatching(
        /model_quantized\.onnx is not as it was pulled: .* The model is not loaded\.$/,
      ) as string,
    });
  });

  it("is refused when a file is gone", async () => {
    const changed = embedWith((copy) => rm(path.join(copy, "tokenizer.json")));
    await expect(changed).rejects.toMatchObject({
      code: "EMBEDDER_MODEL_CHANGED",
      message: expect.stringContaining("tokenizer.json is not as it was pulled: it can't be read") as string,
    });
  });

  it("is refused when its lock was changed together with its files, where its digests are known", async () => {
    const changed = embedWith(async (copy) => {
      const file = path.join(copy, "model-lock.json");
      const lock = JSON.parse(await readFile(file, "utf8")) as object;
      const revision = "751bff37182d3f1213fa05d7196b954e230abad9";
      await writeFile(file, JSON.stringify({ ...lock, model: "Xenova/all-MiniLM-L6-v2", revision }));
    });
    await expect(changed).rejects.toMatchObject({
      code: "EMBEDDER_MODEL_CHANGED",
      message: expect.stringContaining(
        "model-lock.json is not as it was pulled: config.json is another",
      ) as string,
    });
  });

  it.each(["", "{}", '{"format":1}', '{"format":1,"files":{"../x":{"bytes":1,"sha256":"a"}}}'])(
    "is refused when its lock is %j",
    async (text) => {
      const changed = embedWith((copy) => writeFile(path.join(copy, "model-lock.json"), text));
      await expect(changed).rejects.toMatchObject({ code: "EMBEDDER_MODEL_CHANGED" });
    },
  );
});

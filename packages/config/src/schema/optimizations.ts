import * as z from "zod/mini";
import { oneOf } from "./risk.ts";
import { choice, count, flag, harmless, limit, setting, text, withDefault } from "./setting.ts";

export const optimizationSettings = {
  enabled: harmless(flag(true), "false disables all of these.", ["OPTIMIZATIONS_ENABLED"]),
  sandboxPooling: harmless(flag(true), "Start sandbox guests before they are needed.", [
    "OPTIMIZATION_SANDBOX_POOLING",
  ]),
  sandboxPoolSize: limit(count(256, 2), "Number of guests kept ready."),
  sandboxReuse: setting(
    choice(["none", "session"], "session"),
    "session: the runs of one session share a guest process, one after another, each in a realm of its own. none: each run has a process of its own.",
    { isStricter: oneOf("none") },
  ),
  sandboxKeptGuests: limit(
    count(4096, 16),
    "Guests that wait for the next run of their session, some 20 MiB each; beyond it one of them, chosen at random, ends. After ten seconds two are left, or all of them with more than 16.",
  ),
  toolCache: harmless(flag(true), "Cache what was read from the tool files.", ["OPTIMIZATION_TOOL_CACHE"]),
  toolCacheFile: setting(withDefault(text, ".tool_cache.json"), "File of the tool cache.", { path: true }),
  gpuEmbeddings: harmless(flag(true), "Read without an effect: embeddings are computed by the processor.", [
    "OPTIMIZATION_GPU_EMBEDDINGS",
  ]),
  embeddingModelDir: setting(
    z.optional(text),
    "Folder of a sentence-embedding model in ONNX format. Enables semantic search of tools, with precedence over a service.",
    { path: true, askedAs: "setting" },
  ),
  searchCacheDir: setting(
    withDefault(text, ".cem/search"),
    "Folder of the caches of embeddings and of the search index, which tool_cache enables.",
    { path: true },
  ),
  parallelDiscovery: harmless(flag(true), "Read tool files in parallel.", [
    "OPTIMIZATION_PARALLEL_DISCOVERY",
  ]),
  fileContentCache: harmless(flag(true), "Read without an effect: files are read when they are needed."),
};

import * as z from "zod/mini";
import { atMost, needsYes, oneOf } from "./risk.ts";
import { choice, count, flag, setting, text, withDefault } from "./setting.ts";

/** Settings of pools, caches and parallel work. */
export const optimizationSettings = {
  enabled: setting(flag(true), "false disables all of these.", {
    variables: ["OPTIMIZATIONS_ENABLED"],
    risk: "none",
  }),
  sandboxPooling: setting(flag(true), "Start sandbox guests before they are needed.", {
    variables: ["OPTIMIZATION_SANDBOX_POOLING"],
    risk: "none",
  }),
  sandboxPoolSize: setting(count(256, 3), "Number of guests kept ready.", {
    risk: needsYes(["spend"], "that many guests wait in memory", { isStricter: atMost }),
  }),
  sandboxReuse: setting(
    choice(["none", "session"], "session"),
    "session: the runs of one session share a guest process, one after another, each in a realm of its own. none: each run has a process of its own.",
    { risk: needsYes(["loosen"], "runs of a session share a process", { isStricter: oneOf("none") }) },
  ),
  sandboxKeptGuests: setting(
    count(4096, 16),
    "Guests that wait for the next run of their session, some 20 MiB each; beyond it the one that has waited longest ends. After ten seconds two are left, or all of them with more than 16.",
    { risk: needsYes(["spend"], "that many used guests wait in memory", { isStricter: atMost }) },
  ),
  toolCache: setting(flag(true), "Cache what was read from the tool files.", {
    variables: ["OPTIMIZATION_TOOL_CACHE"],
    risk: "none",
  }),
  toolCacheFile: setting(withDefault(text, ".tool_cache.json"), "File of the tool cache.", {
    path: true,
    risk: needsYes(["reach"], "the tool cache is written there", { askedAs: "path" }),
  }),
  gpuEmbeddings: setting(flag(true), "Use a GPU for embeddings.", {
    variables: ["OPTIMIZATION_GPU_EMBEDDINGS"],
    pending: "embeddings are computed by the processor",
    risk: "none",
  }),
  embeddingModelDir: setting(
    z.optional(text),
    "Folder of a sentence-embedding model in ONNX format. Enables semantic search of tools, with precedence over a service.",
    { path: true, risk: needsYes(["reach", "spend"], "that model is loaded into this process") },
  ),
  searchCacheDir: setting(
    withDefault(text, ".cem/search"),
    "Folder of the other caches that tool_cache enables: embeddings, and type checks without findings (file_content_cache).",
    { path: true, risk: needsYes(["reach"], "caches are written there", { askedAs: "path" }) },
  ),
  parallelDiscovery: setting(flag(true), "Read tool files in parallel.", {
    variables: ["OPTIMIZATION_PARALLEL_DISCOVERY"],
    risk: "none",
  }),
  fileContentCache: setting(
    flag(true),
    "Keep which programs passed the check of types, by the content of their files, so that they are not checked again. Needs tool_cache.",
    { risk: "none" },
  ),
};

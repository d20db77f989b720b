import type { PullProgress } from "code-execution-mcp/admin";
import { EXIT_OK } from "../errors.ts";
import type { Answer, CommandContext } from "../io/command-context.ts";
import type { Output } from "../io/terminal.ts";
import { renderRow } from "../render/rows.ts";
import { oneLine, safeData } from "../render/text.ts";
import { shortPath } from "../render/text.ts";
import { serverSourceOf } from "../run/config-source.ts";
import { addOptions, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { settingOptions, actionArgument } from "../command/options.ts";

/** `cem model pull`: loads a sentence-embedding model into the cache. */
export const model = defineCommand<{ name?: string | undefined }>({
  name: "model",
  group: "more",
  about: "Load a model that compares tools by meaning",
  help: `
The files go into the user's cache folder (optimizations.model_cache_dir, CEM_MODELS_DIR), with the revision and the
digest of each, which are checked whenever the model is loaded. Nothing is downloaded at any other time. A mirror is
set by optimizations.model_mirror or HF_ENDPOINT. It runs with the package @huggingface/transformers.

Examples:
  cem model pull                              a small model for English
  cem model pull Xenova/bge-base-en-v1.5      another; set optimizations.embedding_model to use it
  HF_ENDPOINT=https://hub.example cem model pull`,
  declare: (command) =>
    addOptions(command, settingOptions(["config"]))
      .addArgument(actionArgument(["pull"]))
      .argument(
        "[name]",
        "its name on huggingface.co or the mirror, with @ and a revision where one is wanted",
      ),
  run: pullModel,
});

async function pullModel(
  { name, options }: Given<{ name?: string | undefined }>,
  context: CommandContext,
): Promise<Answer> {
  const { pullEmbeddingModel } = await import("code-execution-mcp/admin");
  const source = serverSourceOf(options, context);
  const onProgress = context.live === undefined ? undefined : createPullProgress(context.live);
  const { folder, lock, isUsed } = await pullEmbeddingModel({ ...source, model: name, onProgress });
  const { model, revision, source: from } = safeData(lock);
  const next = isUsed
    ? "Tools are now searched by words and by meaning."
    : `To use it, set optimizations.embedding_model: ${model}`;
  return {
    exitCode: EXIT_OK,
    data: { status: "success", ...lock, folder, used: isUsed },
    report: (style) => [
      "",
      ...renderRow("pulled", oneLine(`${model} at ${revision}`), style),
      ...renderRow("from", oneLine(from), style),
      ...renderRow("into", shortPath(folder), style),
      "",
      `  ${oneLine(next)}`,
    ],
    brief: () => folder,
  };
}

/** Between two updates of the line of a file, so that the terminal keeps up. */
const UPDATE_INTERVAL_MS = 100;
const UNITS = ["bytes", "kB", "MB", "GB"];

/** Shows the progress of a pull: a line for each file when it has come, and in a terminal how far the current one is. */
export function createPullProgress(output: Output): (progress: PullProgress) => void {
  const { style } = output;
  let shownAt = -Infinity;
  let began = false;
  return ({ file, loaded, total, done }) => {
    const name = oneLine(file);
    if (done) {
      const lines = renderRow("pull", name, style, { right: size(loaded) });
      output.write(`${began ? "" : "\n"}${lines.join("\n")}\n`);
      began = true;
      return;
    }
    const now = performance.now();
    if (now - shownAt < UPDATE_INTERVAL_MS) return;
    shownAt = now;
    const share =
      total === undefined || total === 0 ? "" : ` of ${size(total)}, ${Math.floor((100 * loaded) / total)} %`;
    output.writeTransient(`  pull       ${name}  ${style.colors.dim(`${size(loaded)}${share}`)}`);
  };
}

/** `23.0 MB`. */
function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

import { pullEmbeddingModel } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { createPullProgress } from "../pull-progress.ts";
import { renderRow } from "../render-rows.ts";
import { oneLine, safeData } from "../safe-text.ts";
import { shortPath } from "../short-path.ts";

/** `cem model pull`: loads a sentence-embedding model into the cache. */
export async function pullModel(
  { name, options }: InvocationOf<"model">,
  context: CommandContext,
): Promise<Answer> {
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

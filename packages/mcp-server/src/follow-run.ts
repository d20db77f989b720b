import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { Progress } from "./progress.ts";
import { askLater, askNow, asksLater, cancelUnaskable, readAnswers, stateOf } from "./questions.ts";
import { answerRun } from "./run-answer.ts";
import type { RunView, Waiter } from "./run.ts";
import { ownerOf, runPayerOf } from "./server-tool.ts";
import type { ToolHost } from "./server-tool.ts";

/**
 * Waits for a run as long as a call may take and passes its questions to the client's user. A call that repeats one
 * answered with questions continues the same run.
 *
 * @param begin - Starts the run, or waits for one under way.
 */
export async function followRun(
  host: ToolHost,
  context: ServerContext,
  begin: (waiter: Waiter) => Promise<RunView>,
  verbose = false,
): Promise<CallToolResult | InputRequiredResult> {
  const { runs, guest, results, hintFor } = host;
  const progress = new Progress(context);
  const waiter: Waiter = {
    owner: ownerOf(context),
    signal: context.mcpReq.signal,
    onEvent: progress.onEvent,
  };
  const answered = stateOf(context);
  try {
    let view: RunView;
    if (answered === undefined) view = await begin(waiter);
    else {
      adoptRun(host, answered, context);
      view = await runs.answer(
        answered,
        readAnswers(runs.questionsOf(answered, waiter.owner), context),
        waiter,
      );
    }
    while (view.state === "asking") {
      const { id, questions } = view;
      if (!asksLater(context)) {
        view = await runs.answer(id, await askNow(questions, context), waiter);
        continue;
      }
      const unaskable = cancelUnaskable(questions, context);
      if (unaskable.size === 0) return askLater(questions, id);
      view = await runs.answer(id, unaskable, waiter);
    }
    return await answerRun(view, { guest, results, hintFor, verbose });
  } finally {
    await progress.finish();
  }
}

/** Goes on with a run whose copy of the server is gone, where runs outlive their server. */
export function adoptRun(host: ToolHost, id: string, context: ServerContext): void {
  const { runs, agent } = host;
  if (agent.rejoinRun === undefined) return;
  runs.adopt(id, {
    owner: ownerOf(context),
    payer: runPayerOf(host, context),
    signal: context.mcpReq.signal,
    rejoin: (key, options) => agent.rejoinRun?.(key, options) ?? Promise.resolve(undefined),
  });
}

import { toolId, type AgentEvent, type ToolProgress } from "@cem/core";
import type { ServerContext } from "@modelcontextprotocol/server";
import { MIN_PROGRESS_INTERVAL_MS } from "../limits.ts";
import { answersTo, askLater, readAnswers, stateOf } from "../runs/questions.ts";
import { describeWait, type RunView, type Waiter } from "../runs/run.ts";
import { answerRun } from "./run-answer.ts";
import { clientIdOf, runQuotaOwnerOf, type ToolAnswer, type ToolHost } from "./server-tool.ts";

/**
 * Waits for a run as long as a call may take and forwards its questions to the client's user. A call that is repeated with
 * answers continues the same run.
 *
 * @param begin - Starts the run, or waits for a running one.
 */
export async function followRun(
  host: ToolHost,
  context: ServerContext,
  begin: (waiter: Waiter) => Promise<RunView>,
  verbose = false,
): Promise<ToolAnswer> {
  const { runs, guest, results, hintFor } = host;
  const progress = reportProgress(context);
  const { signal } = context.mcpReq;
  const waiter: Waiter = { owner: clientIdOf(context), signal, onEvent: progress.onEvent };
  const answered = stateOf(context);
  try {
    let view: RunView;
    if (answered === undefined) view = await begin(waiter);
    else {
      adoptRun(host, answered, context);
      const questions = runs.questionsOf(answered, waiter.owner);
      view = await runs.answer(answered, readAnswers(questions, context), waiter);
    }
    while (view.state === "asking") {
      const { id, questions } = view;
      const answers = await answersTo(questions, context).catch((error: unknown) => {
        // The call was cancelled, so an answer by another way must not continue the run.
        if (signal.aborted) runs.end(id, waiter.owner, signal.reason).catch(() => {});
        throw error;
      });
      if (answers === undefined) return askLater(questions, id);
      view = await runs.answer(id, answers, waiter);
    }
    return await answerRun(view, { guest, results, hintFor, verbose });
  } finally {
    await progress.finish();
  }
}

/** Takes over a run whose replica is gone, if runs outlive their server. */
export function adoptRun(host: ToolHost, id: string, context: ServerContext): void {
  const { runs, agent } = host;
  if (agent.rejoinRun === undefined) return;
  const rejoin = agent.rejoinRun.bind(agent);
  const { signal } = context.mcpReq;
  runs.adopt(id, rejoin, { owner: clientIdOf(context), quotaOwner: runQuotaOwnerOf(host, context), signal });
}

const STAGE_WORDS: Readonly<Record<Extract<AgentEvent, { type: "stage-started" }>["stage"], string>> = {
  discover: "Looking at the tools",
  select: "Choosing tools",
  generate: "Writing code",
  review: "Reviewing the code",
  run: "Running the code",
};

/** Number of initial events that are reported without throttling. */
const FIRST_EVENTS = 20;
const MAX_MESSAGE_CHARACTERS = 400;

/** Reports the stages and tool calls of a run to a client that asked for progress, until its call is answered. */
function reportProgress({ mcpReq }: ServerContext) {
  const { _meta: { progressToken } = {} } = mcpReq;
  let progress = 0;
  let sentAt = 0;
  let allSent: Promise<unknown> = Promise.resolve();
  let isOver = false;

  /** @param isFrequent - Whether the message is throttled after the first ones. */
  function tell(message: string, isFrequent = false): void {
    progress += 1;
    const isQuick = performance.now() - sentAt < MIN_PROGRESS_INTERVAL_MS;
    if (isFrequent && isQuick && progress > FIRST_EVENTS) return;
    sentAt = performance.now();
    const params = { progressToken: progressToken ?? 0, progress, message };
    // A disconnected client is handled by the transport.
    const sent = mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    allSent = Promise.all([allSent, sent]);
  }

  return {
    onEvent: (event: AgentEvent): void => {
      if (progressToken === undefined || isOver) return;
      if (event.type === "stage-started") tell(STAGE_WORDS[event.stage]);
      else if (event.type === "waiting") tell(`Waiting: ${describeWait(event)}`);
      else if (event.type === "tool-called") {
        const { server, tool, ms, ok } = event.call;
        const end = ok ? "answered" : "failed";
        tell(`${toolId({ server, name: tool })} ${end} after ${Math.round(ms)} ms`, true);
      } else if (event.type === "tool-progressed")
        tell(`${toolId({ server: event.server, name: event.tool })}: ${worded(event.progress)}`, true);
    },
    /** Stops reporting, since notifications must not follow the call's answer. Resolves when all are sent. */
    async finish(): Promise<void> {
      isOver = true;
      await allSent;
    },
  };
}

/** The tool's own progress as text. The notification's `progress` counts events, since it has to increase across tools. */
function worded({ progress, total, message }: ToolProgress): string {
  const numbers = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message === undefined || message === ""
    ? numbers
    : `${numbers}, ${message.slice(0, MAX_MESSAGE_CHARACTERS)}`;
}

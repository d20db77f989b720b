import type { Elicit, RunOutcome, RunRequest, ToolCallRecord, ToolInvoker } from "@cem/core";
import type { ReadCache } from "./read-cache.ts";
import { localCallRecorder } from "./run-audit.ts";
import type { Program, RunContext } from "./run-context.ts";
import { traceGuest } from "./run-telemetry.ts";

interface ExecutionSettings {
  /** Turns a call into what events and results tell of it. */
  describeCall: (call: ToolCallRecord) => ToolCallRecord;
  /** Answers of earlier attempts. Used for a model's code only. */
  cache: ReadCache | undefined;
  /** Whether calls may be answered from the cache. It learns in either case. */
  answerFromCache: boolean;
}

/** The stage `run`: runs the code in the sandbox. */
export async function execute(
  context: RunContext,
  program: Program,
  { describeCall, cache, answerFromCache }: ExecutionSettings,
): Promise<RunOutcome> {
  const { options, progress, signal, stages } = context;
  const run = async (): Promise<RunOutcome> => {
    const sandbox = await stages.sandbox.get();
    const invoker = await invokerOfRun(context);
    const redactor = await stages.redactor?.get();
    const code = redactor?.reveal(program.code, { session: options.session }) ?? program.code;
    const recordLocalCall = await localCallRecorder(context);
    const request: RunRequest = {
      code,
      invoker: (invoker && cache?.wrap(invoker, { answer: answerFromCache })) ?? invoker,
      limits: options.limits,
      allowedTools: options.allowedTools,
      session: options.session,
      singleUse: options.singleUse,
      signal,
      onOutput: (chunk) => progress.emit({ type: "output", chunk }),
      onToolCall: (call, place) => {
        cache?.invalidateBy(call.server, call.tool);
        recordLocalCall?.(call, place);
        progress.emit({ type: "tool-called", call: describeCall(call) });
      },
    };
    return traceGuest(request, (traced) => sandbox.run(traced));
  };
  const { result: outcome, ms } = await progress.stage("run", run);
  const { isolation, toolCalls } = outcome;
  progress.emit({ type: "ran", toolCalls: toolCalls.length, isolation, ms });
  return outcome;
}

/**
 * The invoker of the pipeline, which is told the session of this run, how to ask its user, and where progress goes.
 *
 * @param elicit - Default: as the options of the run say.
 */
export async function invokerOfRun(
  { id, options, progress, stages }: RunContext,
  elicit: Elicit | undefined = options.onElicit,
): Promise<ToolInvoker | undefined> {
  const invoker = await stages.invoker?.get();
  return (
    invoker && {
      specificationVersion: "v1",
      invoke: (call, context) =>
        invoker.invoke(call, {
          ...context,
          run: id,
          approve: options.onApprove ?? context.approve,
          allowedTools: options.allowedTools ?? context.allowedTools,
          elicit: elicit ?? context.elicit,
          sample: options.onSample,
          announce: options.onCall,
          onProgress: (made) =>
            progress.emit({
              type: "tool-progressed",
              server: call.server,
              tool: call.tool,
              progress: made,
            }),
          // A session of one run is none: nobody comes back to what a server keeps for it.
          session: options.singleUse === true ? undefined : (options.session ?? context.session),
          singleUse: options.singleUse,
        }),
    }
  );
}

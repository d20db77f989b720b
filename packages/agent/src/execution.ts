import { abandonOnAbort } from "@cem/core";
import type { Elicit, RunOutcome, RunRequest, ToolInvoker, Verdict } from "@cem/core";
import type { DescribeCall } from "./ending.ts";
import { localCallRecorder } from "./run-recording.ts";
import { callTracer, traceGuest } from "./run-telemetry.ts";
import type { Program, RunContext } from "./stages.ts";

interface ExecutionSettings {
  describeCall: DescribeCall;
  planned?: Verdict["needsApproval"];
  loaded?: LoadedProgram | undefined;
}

type Execution = Pick<RunRequest, "invoker" | "onToolCall">;

/** A program that the sandbox loads while it is reviewed. None of it is executed before `run`. */
export type LoadedProgram = ReturnType<typeof loadProgram>;

/** Starts loading a program into the sandbox. A failure is reported when it is executed. */
export function loadProgram({ id, options, progress, signal, stages }: RunContext, program: Program) {
  const { promise: mayRun, resolve: decide } = Promise.withResolvers<boolean>();
  let execution: Execution | undefined;
  const load = async (): Promise<RunOutcome> => {
    const sandbox = await abandonOnAbort(stages.sandbox.get(), signal);
    const redactor = await stages.redactor?.get();
    if (sandbox.loadsAhead !== true && !(await mayRun)) throw tooEarly();
    return sandbox.run({
      // Only a queue repeats runs, and never two at once: an id that a caller takes again must not be free of charge.
      run: options.onCall && id,
      code: redactor?.reveal(program.code, { session: options.session }) ?? program.code,
      invoker: stages.invoker && {
        specificationVersion: "v1",
        invoke: (call, given) => execution?.invoker?.invoke(call, given) ?? Promise.reject(tooEarly()),
      },
      limits: options.limits,
      allowedTools: options.allowedTools,
      session: options.session,
      singleUse: options.singleUse,
      signal,
      onOutput: (chunk) => progress.emit({ type: "output", chunk }),
      onToolCall: (call) => execution?.onToolCall?.(call),
      mayRun,
    });
  };
  const outcome = load();
  outcome.catch(() => {});
  return {
    run(given: Execution) {
      execution = given;
      decide(true);
      return outcome;
    },
    /** Drops it from the sandbox, unless it was executed. */
    drop: () => decide(false),
  };
}

function tooEarly(): Error {
  return new Error("The program may not run.");
}

/** The stage `run`: runs the code in the sandbox. */
export async function execute(
  context: RunContext,
  program: Program,
  { describeCall, planned, loaded = loadProgram(context, program) }: ExecutionSettings,
): Promise<RunOutcome> {
  const { progress } = context;
  const run = async (): Promise<RunOutcome> => {
    const invoker = await invokerOfRun(context, undefined, planned);
    const recordLocalCall = await localCallRecorder(context);
    return loaded.run({
      invoker,
      onToolCall: (call) => {
        recordLocalCall?.(call);
        progress.emit({ type: "tool-called", call: describeCall(call) });
      },
    });
  };
  const { result: outcome, ms } = await progress.stage("run", () => traceGuest(run));
  const { isolation, toolCalls } = outcome;
  progress.emit({ type: "ran", toolCalls: toolCalls.length, isolation, ms });
  return outcome;
}

/**
 * The pipeline's invoker for the calls of one run. It adds the session, the run's options and its progress listener, and
 * traces each call.
 *
 * @param elicit - Default: that of the run's options.
 */
export async function invokerOfRun(
  { id, options, progress, stages }: RunContext,
  elicit: Elicit | undefined = options.onElicit,
  planned?: Verdict["needsApproval"],
): Promise<ToolInvoker | undefined> {
  const invoker = await stages.invoker?.get();
  if (invoker === undefined) return undefined;
  const { singleUse } = options;
  const traceCall = callTracer();
  return {
    specificationVersion: "v1",
    invoke: (call, context) => {
      const { server, tool } = call;
      return traceCall(call, () =>
        invoker.invoke(call, {
          ...context,
          run: id,
          approve: options.onApprove ?? context.approve,
          planned,
          allowedTools: options.allowedTools ?? context.allowedTools,
          elicit: elicit ?? context.elicit,
          sample: options.onSample,
          announce: options.onCall,
          onProgress: (made) => progress.emit({ type: "tool-progressed", server, tool, progress: made }),
          // Single-use runs get no session: server state would never be reused.
          session: singleUse === true ? undefined : (options.session ?? context.session),
          singleUse,
        }),
      );
    },
  };
}

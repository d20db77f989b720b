import type {
  ErrorInfo,
  InvokeContext,
  JsonValue,
  RunOutcome,
  Sandbox,
  ToolCall,
  ToolDefinition,
  ToolInvoker,
  ToolResult,
} from "@cem/core";
import { ARGUMENTS, printCall } from "./hosted-servers.ts";

/** Calls in addition to those that the tool makes: for its arguments, and the call of the tool itself. */
const OWN_CALLS = 2;
/** The fraction of a run's time that a tool may not use. */
const RESERVE = 0.1;
const MAX_RESERVE_MS = 1_000;

export interface FileToolRun {
  sandbox: Sandbox;
  /** The session whose guests may run it. `undefined`: the sandbox's default session. */
  session: string | undefined;
  /** Replacement sources for guarded tools, by module URL. */
  modules: Readonly<Record<string, string>>;
  invoker: ToolInvoker;
  onOutput: (text: string) => void;
}

/** Calls a tool that is a file in a guest of its own. */
export async function callFileTool(
  tool: ToolDefinition,
  { args }: ToolCall,
  context: InvokeContext,
  { sandbox, session, modules, invoker, onOutput }: FileToolRun,
): Promise<ToolResult> {
  const { limits } = context;
  using deadline = deadlineOf(context);
  const outcome = await sandbox.run({
    code: printCall(tool),
    session,
    modules,
    signal: deadline.signal,
    limits: limits && { ...limits, calls: limits.calls + OWN_CALLS },
    invoker: {
      specificationVersion: "v1",
      async invoke(call, inner) {
        if (call.server === ARGUMENTS.server && call.tool === ARGUMENTS.tool)
          return { ok: true, value: args };
        return invoker.invoke(call, {
          ...context,
          signal: inner.signal,
          limits: inner.limits,
          leftMs: inner.leftMs,
          onWaiting(isWaiting) {
            inner.onWaiting?.(isWaiting);
            context.onWaiting?.(isWaiting);
          },
        });
      },
    },
  });
  if (outcome.output !== "") onOutput(outcome.output);
  return deadline.isOver() ? timedOut(tool, deadline.spentMs()) : toResult(tool, outcome);
}

/**
 * Times out a call shortly before its run, so that code can handle the error. The clock is paused while the run waits for a person.
 */
function deadlineOf({ signal, limits, leftMs }: InvokeContext) {
  const over = new AbortController();
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  if (limits !== undefined && leftMs !== undefined) {
    const reserve = Math.min(limits.timeoutMs * RESERVE, MAX_RESERVE_MS);
    const check = (): void => {
      const left = leftMs() - reserve;
      if (left > 0) timer = setTimeout(check, left);
      else over.abort();
    };
    check();
  }
  return {
    signal: AbortSignal.any([signal, over.signal]),
    isOver: () => over.signal.aborted,
    spentMs: () => performance.now() - startedAt,
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

function timedOut({ server, name: tool }: Pick<ToolDefinition, "server" | "name">, ms: number): ToolResult {
  const message = `${server}.${tool} did not end within ${Math.round(ms / 100) / 10} s, which was all the time that the run had left.`;
  return { ok: false, error: { code: "TOOL_TIMEOUT", message, details: { server, tool, timeoutMs: ms } } };
}

function toResult({ server, name: tool }: ToolDefinition, outcome: RunOutcome): ToolResult {
  const failed = (message: string): ToolResult => ({
    ok: false,
    error: { code: "TOOL_FAILED", message, details: { server, tool } },
  });
  const name = `${server}.${tool}`;
  switch (outcome.status) {
    case "completed": {
      const { value, error } = (outcome.value ?? {}) as { value?: JsonValue; error?: Partial<ErrorInfo> };
      if (error === undefined) return { ok: true, value: value ?? null };
      const { code = "TOOL_FAILED", message = "", details = {} } = error;
      return { ok: false, error: { code, message, details } };
    }
    case "failed":
      return failed(`${name} failed: ${outcome.error.name}: ${outcome.error.message}`);
    case "timed-out":
      return timedOut({ server, name: tool }, outcome.limitMs);
    case "out-of-memory":
      return failed(`${name} used more than ${outcome.limitMb} MiB of memory and was ended.`);
    case "killed":
      return failed(`${name} was ended: ${outcome.message}`);
    case "refused": {
      const { code, message, details = {} } = outcome;
      return { ok: false, error: { code, message: `${name}: ${message}`, details } };
    }
  }
}

import { abandonOnAbort, nobodyAsked } from "@cem/core";
import type { Elicit, ElicitAnswer, InvokeContext } from "@cem/core";
import type { Deadline } from "./deadline.ts";
import type { HostToolContext } from "./define-tool.ts";

interface ContextSettings {
  /** The server of the tool. */
  server: string;
  /** The timeout of the call. Paused, like that of the run, while a person is asked. */
  deadline: Deadline;
  onWaiting: InvokeContext["onWaiting"];
  /** Without one, nobody can be asked. */
  elicit: Elicit | undefined;
}

/** Creates what a host tool may use in one call. */
export function createToolContext({ server, deadline, onWaiting, elicit }: ContextSettings): HostToolContext {
  const { signal } = deadline;
  return {
    signal,
    async elicit(question): Promise<ElicitAnswer> {
      if (elicit === undefined) return nobodyAsked("no user is connected to this run");
      deadline.pause();
      onWaiting?.(true);
      try {
        const request = question.mode === "url" ? question : { ...question, mode: "form" as const };
        return await abandonOnAbort(elicit({ ...request, server, signal }), signal);
      } catch (error) {
        signal.throwIfAborted();
        process.emitWarning(`A question of ${server} was not answered: ${String(error)}`, "CemWarning");
        return { action: "cancel" };
      } finally {
        onWaiting?.(false);
        deadline.resume();
      }
    },
  };
}

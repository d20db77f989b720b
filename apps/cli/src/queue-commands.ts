import { Argument } from "commander";
import type { Command } from "commander";
import { addSettingOptions, wholeNumber } from "./command-options.ts";
import { QUEUE, STORE, WORKER } from "./queue-help.ts";
import { QUEUE_ACTIONS } from "./invocation.ts";
import type { InvocationOf, QueueAction } from "./invocation.ts";

const MAX_PORT = 65_535;

/** Adds `cem worker`, `cem queue` and `cem store` to the program. */
export function addQueueCommands(
  add: (usage: string, description: string, example: string) => Command,
  found: (
    invocation:
      | Omit<InvocationOf<"worker">, "options">
      | Omit<InvocationOf<"queue">, "options">
      | Omit<InvocationOf<"store">, "options">,
    command: Command,
  ) => void,
): void {
  addSettingOptions(add("worker", "Carry out the runs of servers, from a queue", WORKER))
    .option("--port <number>", "port that answers /healthz and /readyz", wholeNumber(0, MAX_PORT))
    .action(({ port }: { port?: number | undefined }, command: Command) =>
      found({ command: "worker", port }, command),
    );
  addSettingOptions(add("queue", "Look at the queue of runs, and retry", QUEUE))
    .addArgument(new Argument("[action]", "what to do").choices(QUEUE_ACTIONS).default("status"))
    .argument("[id]", "for retry: the run")
    .action((action: QueueAction, id: string | undefined, _: unknown, command: Command) =>
      found({ command: "queue", action, id }, command),
    );
  addSettingOptions(add("store", "Change the keys of what machines share", STORE))
    .addArgument(new Argument("<action>", "what to do").choices(["reseal"]))
    .action((action: "reseal", _: unknown, command: Command) => found({ command: "store", action }, command));
}

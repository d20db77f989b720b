import { once } from "node:events";
import { CemError } from "@cem/core";
import type { DeadRun } from "code-execution-mcp/admin";
import type { Answer } from "../io/terminal.ts";
import { renderRow } from "../render/rows.ts";
import { counted, duration, joined, oneLine, wrapIndented } from "../render/text.ts";
import {
  actionArgument,
  CODE_SETTINGS,
  configSourceOf,
  MAX_PORT,
  serverSourceOf,
  wholeNumber,
} from "../command/options.ts";
import { answer, defineCommand, needed, NO_ANSWER } from "../command/define-command.ts";

const ACTIONS = ["status", "error", "retry"] as const;

/** `cem worker`: takes runs from the queue until it is stopped, then finishes those in progress. */
export const worker = defineCommand<{ port?: number | undefined }>({
  name: "worker",
  group: "operation",
  about: "Execute the runs of servers, from a queue",
  answers: false,
  help: `
Takes runs from the queue that queue.url (CEM_QUEUE_URL) names, which  cem serve  puts there with the same setting. Both
need the same configuration, and store.files or folders of customers and workspaces that all machines reach. SIGTERM or
Ctrl-C: it takes no more runs and ends once those under way are finished, or after queue.drain_grace, when they go to other workers. A worker that
is killed gives its runs back.

Examples:
  CEM_QUEUE_URL=redis://127.0.0.1:6379/0 cem worker
  cem worker --port 3001                      with /healthz, /readyz and /metrics
  cem queue                                   how many runs wait`,
  settings: CODE_SETTINGS,
  declare: (command) =>
    command.option(
      "--port <number>",
      "port that answers /healthz, /readyz and /metrics",
      wholeNumber(0, MAX_PORT),
    ),
  async run({ port, options }, { signal }) {
    if (options.json)
      throw new CemError("USAGE", "cem worker prints no answer. Its log has one JSON object a line.");
    const { runWorker } = await import("code-execution-mcp");
    const running = await runWorker({ ...configSourceOf(options), port });
    if (!signal.aborted) await once(signal, "abort");
    await running.close();
    return NO_ANSWER;
  },
});

export const queue = defineCommand<{ action: (typeof ACTIONS)[number]; id?: string | undefined }>({
  name: "queue",
  group: "operation",
  about: "Look at the queue of runs, and retry",
  help: `
Runs that no worker could execute are kept for a week. One that is retried is repeated only where its calls so far do no
harm twice.

Examples:
  cem queue                                   workers, how many runs wait and since when, throughput
  cem queue error                             those that no worker could execute
  cem queue retry run-1f0c2a9b`,
  settings: ["config"],
  declare: (command) =>
    command.addArgument(actionArgument(ACTIONS, "status")).argument("[id]", "for retry: the run"),
  async run({ action, id, options }, context) {
    const { deadRuns, queueLoad } = await import("code-execution-mcp/admin");
    const source = serverSourceOf(options, context);
    switch (action) {
      case "status": {
        const { waiting, running, dead, workers, oldestWaitMs, endedPerMinute } = await queueLoad(source);
        const counts = { workers, waiting, running, error: dead, oldestWaitMs, endedPerMinute };
        const rows = {
          workers: workers === 0 ? "0: nothing takes runs. Start one with  cem worker" : String(workers),
          waiting: joined(counted(waiting, "run"), waiting > 0 && `the oldest for ${duration(oldestWaitMs)}`),
          running: counted(running, "run"),
          ended: `${counted(endedPerMinute, "run")} in the last minute`,
          error: counted(dead, "run"),
        };
        return answer({
          data: counts,
          report: (_, style) => [
            "",
            ...Object.entries(rows).flatMap(([label, text]) => renderRow(label, text, style)),
          ],
          brief: () => Object.values(counts).join(" "),
        });
      }
      case "error":
        return listDead(await deadRuns(source));
      case "retry":
        return retry(needed(id, "queue retry", "a run's id, as cem queue error lists them"), source);
    }
  },
});

function listDead(dead: readonly DeadRun[]): Answer {
  const runs = dead.map(({ owner: customer, at, ...run }) => ({ ...run, customer, at: at.toISOString() }));
  return answer({
    data: { runs },
    report: (shown, style) => {
      const rows = shown.runs.flatMap(({ id: run, customer, kind, at, reason }) => [
        `  ${style.colors.bold(run)}  ${[kind, at, ...(customer === undefined ? [] : [customer])].join(", ")}`,
        ...wrapIndented(oneLine(reason), "    ", style.width),
        "",
      ]);
      return [
        "",
        ...rows,
        style.colors.dim(`  ${counted(shown.runs.length, "run")} that no worker could execute.`),
      ];
    },
    brief: (shown) => shown.runs.map(({ id }) => id).join("\n"),
  });
}

/** @throws CemError `RUN_NOT_FOUND` */
async function retry(id: string, source: ReturnType<typeof serverSourceOf>): Promise<Answer> {
  const { retryDeadRun } = await import("code-execution-mcp/admin");
  if (!(await retryDeadRun(id, source)))
    throw new CemError("RUN_NOT_FOUND", `No worker gave up run ${id}. See which there are: cem queue error`, {
      details: { run: id },
    });
  return answer({
    data: { run: id },
    report: ({ run }) => ["", `  ${run} waits for a worker again.`],
    brief: ({ run }) => run,
  });
}

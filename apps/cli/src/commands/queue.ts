import { CemError } from "@cem/core";
import { deadRuns, queueCounts, retryDeadRun } from "code-execution-mcp/admin";
import type { DeadRun } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { renderRow } from "../render-rows.ts";
import { renderTable } from "../render-table.ts";
import { counted } from "../text-layout.ts";

/** `cem queue`: how many runs are where, those that failed, and retrying them. */
export async function lookAtQueue(
  { action, id, options }: InvocationOf<"queue">,
  context: CommandContext,
): Promise<Answer> {
  const source = serverSourceOf(options, context);
  switch (action) {
    case "status": {
      const { waiting, running, dead } = await queueCounts(source);
      return {
        exitCode: EXIT_OK,
        data: { status: "success", waiting, running, failed: dead },
        report: (style) => [
          "",
          ...renderRow("waiting", counted(waiting, "run"), style),
          ...renderRow("running", counted(running, "run"), style),
          ...renderRow("failed", counted(dead, "run"), style),
        ],
        brief: () => `${waiting} ${running} ${dead}`,
      };
    }
    case "failed":
      return listDead(await deadRuns(source));
    case "retry":
      return retry(id, await retryDeadRun(requireId(id), source));
  }
}

function listDead(runs: readonly DeadRun[]): Answer {
  return {
    exitCode: EXIT_OK,
    data: { status: "success", runs: runs.map((run) => ({ ...run, at: run.at.toISOString() })) },
    report: (style) => {
      const rows = runs.map(({ id, customer = "", kind, reason, at }) => ({
        run: id,
        customer,
        kind,
        at: at.toISOString(),
        reason,
      }));
      const table = rows.length === 0 ? [] : [...renderTable(rows, style).map((line) => `  ${line}`), ""];
      return ["", ...table, style.colors.dim(`  ${counted(rows.length, "failed run")}.`)];
    },
    brief: () => runs.map(({ id }) => id).join("\n"),
  };
}

/** @throws CemError `RUN_NOT_FOUND` */
function retry(id = "", wasThere: boolean): Answer {
  if (!wasThere) {
    throw new CemError("RUN_NOT_FOUND", `No run ${id} failed. See which did: cem queue failed`, {
      details: { run: id },
    });
  }
  return {
    exitCode: EXIT_OK,
    data: { status: "success", run: id },
    report: () => ["", `  ${id} waits for a worker again.`],
    brief: () => id,
  };
}

/** @throws CemError `USAGE` */
function requireId(id: string | undefined): string {
  if (id !== undefined) return id;
  throw new CemError("USAGE", "cem queue retry needs a run's id. See which failed: cem queue failed");
}

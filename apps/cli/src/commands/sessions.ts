import { writeFile } from "node:fs/promises";
import { CemError } from "@cem/core";
import { listSessions, readSession } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { executeOptions } from "../execute-options.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf, SessionAction } from "../invocation.ts";
import { renderSession, renderSessions } from "../render-sessions.ts";
import { renderRow } from "../render-rows.ts";
import { answerToResult } from "../result-answer.ts";
import { oneLine, safeData } from "../safe-text.ts";
import { withAgent } from "../with-agent.ts";

type Sessions = InvocationOf<"sessions">;

/** `cem sessions`: lists logged sessions, shows or exports one, or goes on with it. */
export async function manageSessions(invocation: Sessions, context: CommandContext): Promise<Answer> {
  const { action, id, max, options } = invocation;
  if (action === "list") {
    const sessions = safeData(await listSessions({ ...serverSourceOf(options, context), max }));
    return {
      exitCode: EXIT_OK,
      data: { status: "success", sessions },
      report: (style) => renderSessions(sessions, style),
      brief: () => sessions.map(({ session_id: name }) => name).join("\n"),
    };
  }
  const named = requireId(action, id);
  if (action === "resume") return resume(named, invocation, context);
  const session = await readSession(named, serverSourceOf(options, context));
  if (action === "export") return exportSession(invocation, session);
  const safe = safeData(session);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", session },
    report: (style) => renderSession(safe, style),
    brief: () => safe.tasks.map(({ description }) => oneLine(description)).join("\n"),
  };
}

async function resume(id: string, { task, options }: Sessions, context: CommandContext): Promise<Answer> {
  if (task.trim() === "") {
    throw new CemError(
      "USAGE",
      "cem sessions resume needs a task after the session. See: cem sessions --help",
    );
  }
  // It has to be there before anything runs.
  await readSession(id, serverSourceOf(options, context));
  return withAgent(
    options,
    context,
    async (agent) => answerToResult(await agent.executeTask(task, executeOptions(context, options)), options),
    { resume: id },
  );
}

async function exportSession(
  { out }: Sessions,
  session: Awaited<ReturnType<typeof readSession>>,
): Promise<Answer> {
  const json = `${JSON.stringify(session, undefined, 2)}\n`;
  if (out === undefined) {
    const lines = json.trimEnd().split("\n");
    return { exitCode: EXIT_OK, data: session, report: () => lines, brief: () => lines.join("\n") };
  }
  try {
    await writeFile(out, json, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === "EEXIST" ? "it exists" : String(error);
    throw new CemError("NOT_WRITABLE", `${out} can't be written: ${reason}.`, {
      details: { file: out },
      cause: error,
    });
  }
  return {
    exitCode: EXIT_OK,
    data: { status: "success", file: out },
    report: (style) => ["", ...renderRow("exported", oneLine(out), style)],
    brief: () => out,
  };
}

/** @throws CemError `USAGE` */
function requireId(action: SessionAction, id: string | undefined): string {
  if (id !== undefined) return id;
  throw new CemError("USAGE", `cem sessions ${action} needs a session. See: cem sessions --help`);
}

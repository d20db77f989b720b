import { readFile } from "node:fs/promises";
import { CemError } from "@cem/core";
import type { PlannedWrite } from "code-execution-mcp";
import type { Answer } from "./answer.ts";
import { askYesNo } from "./ask-yes-no.ts";
import type { CommandContext } from "./command-context.ts";
import type { SharedOptions } from "./command-options.ts";
import { executeOptions } from "./execute-options.ts";
import { renderPairs } from "./render-rows.ts";
import { answerToResult } from "./result-answer.ts";
import { oneLine, safeText } from "./safe-text.ts";
import { counted } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";
import { doWarm } from "./warm/warm-client.ts";
import { carryOut } from "./warm/work.ts";
import type { Work } from "./warm/work.ts";
import { askingOf, withAgent } from "./with-agent.ts";

const INDENT = "  ";
const MAX_SHOWN_CHARACTERS = 300;

/** What a dry run found: the program and the writes it would make, which can be approved as one plan. */
interface Plan {
  code: string;
  writes: readonly PlannedWrite[];
}

/** Runs code, a call or a task as its options say: at once, dry, or within an approved plan. */
export async function runAgent(work: Work, options: SharedOptions, context: CommandContext): Promise<Answer> {
  if (options.dryRun === true) return runDry(work, options, context);
  const approvedWrites = options.plan === undefined ? undefined : (await readPlan(options.plan)).writes;
  const execute = executeOptions(context, options);
  const done =
    (await doWarm(work, options, execute, () => askingOf(context))) ??
    (await withAgent(options, context, (agent) => carryOut(agent, work, execute), { approvedWrites }));
  return answerToResult(done, options);
}

/** Lists the writes; where somebody sits at the terminal and says yes, makes exactly them. */
async function runDry(work: Work, options: SharedOptions, context: CommandContext): Promise<Answer> {
  const writes: PlannedWrite[] = [];
  const result = await withAgent(
    options,
    context,
    (agent) => carryOut(agent, work, executeOptions(context, options)),
    { onPlannedWrite: (write) => void writes.push(write) },
  );
  const answer = await answerToResult(result, options);
  const plan = { code: result.code, writes };
  const listed: Answer = {
    ...answer,
    data: { ...answer.data, dryRun: true, ...plan },
    report: (style) => [...answer.report(style), ...renderWrites(writes, style)],
  };
  const { live, io } = context;
  const mayAsk = result.status === "success" && writes.length > 0 && live !== undefined;
  if (!mayAsk || io.stdin.isTTY !== true) return listed;
  live.write(`${renderWrites(writes, live.style).join("\n")}\n`);
  if (!(await askYesNo(`Make ${counted(writes.length, "change")}?`, context))) return listed;
  const made = await withAgent(
    options,
    context,
    (agent) => agent.executeCode(plan.code, executeOptions(context, options)),
    { approvedWrites: writes },
  );
  return answerToResult(made, options);
}

function renderWrites(writes: readonly PlannedWrite[], style: Style): string[] {
  if (writes.length === 0) return ["", `${INDENT}It would change nothing.`];
  const pairs = writes.map(({ server, tool, args }): [string, string] => {
    const json = oneLine(safeText(JSON.stringify(args)));
    const shown = json.length > MAX_SHOWN_CHARACTERS ? `${json.slice(0, MAX_SHOWN_CHARACTERS)}…` : json;
    return [oneLine(safeText(`${server}.${tool}`)), shown];
  });
  return [
    "",
    `${INDENT}It would make ${counted(writes.length, "change")}:`,
    "",
    ...renderPairs(pairs, INDENT, style),
  ];
}

/** Reads what `--dry-run --json` printed. */
async function readPlan(file: string): Promise<Plan> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new CemError("FILE_NOT_FOUND", `There is no plan ${file}.`, { details: { file }, cause });
  }
  try {
    const { code, writes } = JSON.parse(text) as Partial<Plan>;
    if (typeof code === "string" && Array.isArray(writes) && writes.every(isWrite)) return { code, writes };
  } catch {
    // Said below.
  }
  throw new CemError("USAGE", `${file} is no plan: it is what a command prints with --dry-run --json.`);
}

function isWrite(value: unknown): value is PlannedWrite {
  const { server, tool, args } = (value ?? {}) as Partial<PlannedWrite>;
  return typeof server === "string" && typeof tool === "string" && args !== undefined;
}

import { CemError, holdsRedactionToken } from "@cem/core";
import type {
  Finding,
  Lazy,
  ReviewRequest,
  ToolDefinition,
  ToolProblem,
  TypeChecker,
  Verdict,
} from "@cem/core";
import { withProblems } from "./catalog.ts";
import { invalidCode } from "./ending.ts";
import type { Ending } from "./ending.ts";
import { refusedReview, refusedTypes } from "./refusals.ts";
import { recordVerdict } from "./run-recording.ts";
import type { Program, RunContext } from "./stages.ts";

/** Verdict of the guard and the type checker. */
export interface Review extends Verdict {
  /** How the run ends, where the code may not run. */
  refusal?: Ending | undefined;
}

interface Known {
  problems: readonly ToolProblem[];
  ranBefore: boolean;
  load: () => void;
}

/**
 * The stage `review`: has the guard and the type checker read code before it runs.
 *
 * @param known - With `problems`, the files of the catalog that can't be used, and `ranBefore`: whether an earlier attempt at the same task has run, which a refusal must not deny.
 * `load` is called where only the types are left to check.
 */
export async function review(
  context: RunContext,
  program: Program,
  { tools, ...known }: { tools: readonly ToolDefinition[] } & Known,
): Promise<Review> {
  const { progress, signal } = context;
  const { allowedTools } = context.options;
  const request = { code: program.code, tools, allowedTools, signal };
  const examine = (): Promise<Review> => examineCode(context, program, request, known);
  const { result, ms } = await progress.stage("review", examine);
  const { allowed, findings } = result;
  progress.emit({ type: "reviewed", allowed, findings, ms });
  await recordVerdict(context, program, result);
  return result;
}

/**
 * Starts to create the type checker, where this run may check types, and to load what a check needs. A failure shows when
 * the checker is needed.
 */
export function prepareTypeChecker(context: RunContext): void {
  typeCheckerOf(context)
    ?.get()
    .then((checker) => checker.prepare?.())
    .catch(() => {});
}

async function examineCode(
  context: RunContext,
  program: Program,
  request: ReviewRequest,
  { problems, ranBefore, load }: Known,
): Promise<Review> {
  const unknown = await unknownToken(context, request.code);
  if (unknown !== undefined) {
    const verdict = { allowed: false, findings: [unknown] };
    return { ...verdict, refusal: refusedReview(verdict, { ranBefore }) };
  }
  // The guard comes first: code that it refuses is not type-checked.
  const guard = await context.stages.guard.get();
  const verdict = withProblems(await guard.review(request), problems);
  // A guard that did not heed the abort: nothing is created once the pipeline is disposed.
  context.signal.throwIfAborted();
  if (!verdict.allowed) {
    const { syntaxError } = verdict;
    const refusal = syntaxError ? invalidCode(syntaxError) : refusedReview(verdict, { ranBefore });
    return { ...verdict, refusal };
  }
  const typeChecker = typeCheckerOf(context);
  if (typeChecker === undefined || !checksTypesOf(program, context)) return verdict;
  const checker = await typeChecker.get();
  const checking = checker.check({ ...request, strict: context.options.typeCheck === "strict" });
  // Once the compiler has been asked.
  const loading = setImmediate(load);
  const typeFindings = await checking.finally(() => clearImmediate(loading));
  const findings = [...verdict.findings, ...typeFindings];
  const isWrong = typeFindings.some(({ severity }) => severity === "error");
  return isWrong
    ? { allowed: false, findings, refusal: refusedTypes(typeFindings, { ranBefore }) }
    : { ...verdict, findings };
}

/** A token of another session, which the program would keep or print as if it were the value. */
async function unknownToken(
  { options: { session }, stages }: RunContext,
  code: string,
): Promise<Finding | undefined> {
  if (stages.settings.keepsTokens === true || !holdsRedactionToken(code)) return undefined;
  const redactor = await stages.redactor?.get();
  try {
    await redactor?.detokenize(code, { session, server: "workspace", tool: "run", isKept: true });
    return undefined;
  } catch (error) {
    if (!CemError.isInstance(error) || error.code !== "TOKEN_UNKNOWN") throw error;
    const token = String(error.details["token"]);
    const line = code.slice(0, code.indexOf(token)).split("\n").length;
    const message = `${token} stands for no value of this session.`;
    const hint = "Tokens last as long as their session: get the value again.";
    return { rule: "unknown-token", severity: "error", line, message, hint };
  }
}

function typeCheckerOf({ options, stages }: RunContext): Lazy<TypeChecker> | undefined {
  return (options.typeCheck ?? stages.settings.typeCheck) === "off" ? undefined : stages.typeChecker;
}

/**
 * Rules take the types of their code from the definitions themselves, and calls alone satisfy the schemas: both are checked only
 * on request.
 */
function checksTypesOf({ isChecked = false, origin }: Program, { options }: RunContext): boolean {
  return (origin !== "rules" && !isChecked) || options.typeCheck !== undefined;
}

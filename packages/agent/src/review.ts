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
import { invalidCode, type Ending } from "./ending.ts";
import { refusedCode } from "./refusals.ts";
import { recordVerdict } from "./run-recording.ts";
import type { Program, RunContext } from "./stages.ts";

/** The verdict of the guard and the type checker. */
export interface Review extends Verdict {
  /** How the run ends if the code may not run. */
  refusal?: Ending | undefined;
}

interface Known {
  problems: readonly ToolProblem[];
  ranBefore: boolean;
  load: () => void;
}

/**
 * The stage `review`: runs the guard and the type checker on code before it is executed.
 *
 * @param known - `problems`: the files of the catalog that can't be used. `ranBefore`: whether an earlier attempt at the
 * same task has run, which a refusal has to mention. `load` is called when only the type check is left.
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

/** Starts to create the type checker, if this run may check types. A failure is reported when it is used. */
export function prepareTypeChecker(context: RunContext): void {
  loadTypeChecker(context).catch(() => {});
}

export async function loadTypeChecker(context: Pick<RunContext, "options" | "stages">): Promise<void> {
  const checker = await typeCheckerOf(context)?.get();
  await checker?.prepare?.();
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
    return { ...verdict, refusal: refusedCode("CODE_REFUSED", verdict.findings, { ranBefore }) };
  }
  // The guard comes first: code that it refuses is not type-checked.
  const guard = await context.stages.guard.get();
  const verdict = withProblems(await guard.review(request), problems);
  // In case the guard ignored the abort: nothing may be created once the pipeline is disposed.
  context.signal.throwIfAborted();
  if (!verdict.allowed) {
    const { syntaxError } = verdict;
    const refusal = syntaxError
      ? invalidCode(syntaxError)
      : refusedCode("CODE_REFUSED", verdict.findings, { ranBefore });
    return { ...verdict, refusal };
  }
  const typeChecker = typeCheckerOf(context);
  if (typeChecker === undefined || !checksTypesOf(program, context)) return verdict;
  const checker = await typeChecker.get();
  const checking = checker.check({ ...request, strict: context.options.typeCheck === "strict" });
  // Loads after the request to the compiler was sent.
  const loading = setImmediate(load);
  const typeFindings = await checking.finally(() => clearImmediate(loading));
  const findings = [...verdict.findings, ...typeFindings];
  const isWrong = typeFindings.some(({ severity }) => severity === "error");
  return isWrong
    ? { allowed: false, findings, refusal: refusedCode("CODE_MISTYPED", typeFindings, { ranBefore }) }
    : { ...verdict, findings };
}

/** Finds a token of another session, which the program would use as if it were the value. */
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

function typeCheckerOf({
  options,
  stages,
}: Pick<RunContext, "options" | "stages">): Lazy<TypeChecker> | undefined {
  return (options.typeCheck ?? stages.settings.typeCheck) === "off" ? undefined : stages.typeChecker;
}

/** Code by rules and programs of calls only fit the schemas by themselves, so they are checked only on request. */
function checksTypesOf({ isChecked = false, origin }: Program, { options }: RunContext): boolean {
  return (origin !== "rules" && !isChecked) || options.typeCheck !== undefined;
}

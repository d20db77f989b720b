import path from "node:path";
import { CemError } from "@cem/core";
import { plainValue, readYaml } from "@cem/config/yaml";
import { createFormFiller, parseForm } from "@cem/forms";
import type { FormResult } from "@cem/forms";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { elicitOf } from "../elicit-in-terminal.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { readInput } from "../input.ts";
import type { InvocationOf } from "../invocation.ts";
import { createTurns } from "../prompt.ts";
import { renderForm, renderFormResult } from "../render-form.ts";
import { safeData } from "../safe-text.ts";

/** `cem form`: shows a form, checks values for it, or fills it. */
export async function handleForm(
  { action, file, data, trial, options }: InvocationOf<"form">,
  context: CommandContext,
): Promise<Answer> {
  const form = parseForm(await readInput(file, "form", context), { file });
  if (action === "show") {
    const safe = safeData(form);
    return {
      exitCode: EXIT_OK,
      data: { status: "success", form },
      report: (style) => renderForm(safe, style),
      brief: () => safe.fields.map(({ name }) => name).join("\n"),
    };
  }
  const given = data === undefined ? {} : readData(await readInput(data, "data", context), data);
  const filler = createFormFiller({
    workspace: path.resolve(options.workspace ?? "."),
    ask: elicitOf(context, createTurns()),
  });
  if (action === "validate") return answer(await filler.check(form, { data: given }), "valid");
  if (form.target === undefined) {
    throw new CemError(
      "USAGE",
      `${file} has no target to fill. Add one, or check values with: cem form validate`,
    );
  }
  if (form.target.type === "tool" || form.sources.length > 0) {
    throw new CemError("USAGE", `${file} calls tools, which a step of type form does in a workflow.`);
  }
  return answer(await filler.fill(form, { data: given, isTrial: trial, signal: context.signal }), "filled");
}

function answer(result: FormResult, done: string): Answer {
  const safe = safeData(result);
  const isDone = result.status === "filled";
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: { ...result, status: isDone ? done : result.status },
    report: (style) => renderFormResult(safe, done, style),
    brief: () => (isDone ? (result.output ?? result.screenshot ?? done) : result.status),
  };
}

/** @throws CemError `USAGE` */
function readData(text: string, file: string): Record<string, unknown> {
  const { value, problems } = readYaml(text);
  const [problem] = problems;
  if (problem !== undefined) throw new CemError("USAGE", `${file}:${problem.line ?? 1}  ${problem.message}`);
  if (value?.kind === "mapping") return plainValue(value) as Record<string, unknown>;
  throw new CemError(
    "USAGE",
    `${file} must hold the values by the names of their fields, such as  name: Ada`,
  );
}

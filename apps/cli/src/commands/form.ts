import { CemError, isObject } from "@cem/core";
import type { Form, FormField, FormResult } from "@cem/forms";
import { InvalidArgumentError } from "commander";
import { askingOf } from "../ask/terminal-questions.ts";
import type { Answer } from "../io/terminal.ts";
import { readInput } from "../io/input.ts";
import { renderPairs, renderRow } from "../render/rows.ts";
import { counted, INDENT, joined, oneLine, type Style } from "../render/text.ts";
import { actionArgument, configSourceOf } from "../command/options.ts";
import { answer, defineCommand } from "../command/define-command.ts";

const ACTIONS = ["show", "validate", "fill"] as const;

interface FormArguments {
  action: (typeof ACTIONS)[number];
  file: string;
  data?: string | undefined;
  trial: boolean;
}

export const form = defineCommand<FormArguments>({
  name: "form",
  group: "runs",
  about: "Show a form, check values for it, or fill it",
  help: `
A form fills a web page in the system's Chromium, which takes the package playwright-core, or a PDF file, which takes
@cantoo/pdf-lib. What is missing is asked for at the terminal. Files are read from the workspace and written there.

Examples:
  cem form show registration.yaml
  cem form validate registration.yaml --data ada.yaml
  cem form fill registration.yaml --data ada.yaml --trial
  cem form fill registration.yaml --data ada.yaml --workspace papers`,
  settings: ["config", "workspace"],
  declare: (command) =>
    command
      .addArgument(actionArgument(ACTIONS))
      .argument("<file>", 'the form, as YAML or JSON, or "-" to read it from stdin', notEmpty)
      .option("--data <file>", "values by field, as YAML or JSON", notEmpty)
      .option("--trial", "fill in and compare, and send nothing", false),
  async run({ action, file, data, trial, options }, context) {
    const { createFormFiller, parseForm } = await import("@cem/forms");
    const form = parseForm(await readInput(file, "form", context), { file });
    if (action === "show")
      return answer({
        data: { form },
        report: (shown, style) => renderForm(shown.form, style),
        brief: (shown) => shown.form.fields.map(({ name }) => name).join("\n"),
      });
    const given = data === undefined ? {} : await readData(await readInput(data, "data", context), data);
    const { loadConfig } = await import("code-execution-mcp");
    const { signal } = context;
    const loaded = await loadConfig({ ...configSourceOf(options), signal });
    const { onElicit: ask } = askingOf(context);
    const filler = createFormFiller({ workspace: loaded.config.execution.workspaceDir, ask });
    if (action === "validate") return answerToFilling(await filler.check(form, { data: given }));
    if (form.target === undefined)
      throw new CemError(
        "USAGE",
        `${file} has no target to fill. Add one, or check values with: cem form validate`,
      );
    if (form.target.type === "tool" || form.sources.length > 0)
      throw new CemError("USAGE", `${file} calls tools, which a step of type form does in a workflow.`);
    const { offerPackages } = await import("code-execution-mcp/admin");
    const endOffer = offerPackages(loaded);
    try {
      return answerToFilling(await filler.fill(form, { data: given, isTrial: trial, signal }));
    } finally {
      endOffer();
    }
  },
});

function notEmpty(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is the name of a file.");
  return text;
}

function answerToFilling(result: FormResult): Answer {
  const isDone = result.status === "success";
  return answer({
    data: result,
    isDone,
    report: renderFormResult,
    brief: ({ output, screenshot, status }) => (isDone && (output ?? screenshot)) || status,
  });
}

/** @throws CemError `USAGE` */
async function readData(text: string, file: string): Promise<Record<string, unknown>> {
  const { readYaml } = await import("@cem/config/yaml");
  const { value, problems, at } = readYaml(text);
  const [problem] = problems;
  if (problem !== undefined) throw new CemError("USAGE", `${file}:${problem.line ?? 1}  ${problem.message}`);
  // YAML parses an unquoted postcode or phone number as a number.
  const asWritten = (given: unknown, path: readonly PropertyKey[]): unknown => {
    if (Array.isArray(given)) return given.map((item, index) => asWritten(item, [...path, index]));
    return typeof given === "string" || given === null ? given : (at(path).source ?? given);
  };
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, given]) => [name, asWritten(given, [name])]));
  throw new CemError(
    "USAGE",
    `${file} must hold the values by the names of their fields, such as  name: Ada`,
  );
}

function renderForm({ name, description = "", fields, target }: Form, style: Style): string[] {
  const { url, tool, output }: { url?: string; tool?: string; output?: string } = target ?? {};
  return [
    "",
    ...renderRow("form", oneLine(`${name}  ${description}`), style),
    ...renderRow("fills", url ?? tool ?? output ?? "nothing", style),
    "",
    ...renderPairs(
      fields.map((field) => [field.name, oneLine(about(field))]),
      INDENT,
      style,
    ),
  ];
}

function renderFormResult(result: FormResult, style: Style): string[] {
  const { status, values, missing, problems, screenshots, output, submitted } = result;
  const shown = Object.entries(values).map(([name, value]): [string, string] => [
    name,
    oneLine(typeof value === "object" ? JSON.stringify(value) : String(value)),
  ]);
  const wrong = [
    ...problems.map(({ field = "", message }): [string, string] => [field, message]),
    ...missing.map(({ field, reason }): [string, string] => [
      field,
      ["is missing", reason].filter(Boolean).join(": "),
    ]),
  ];
  return [
    "",
    ...renderPairs(shown, INDENT, style),
    ...(wrong.length === 0 ? [] : ["", ...renderPairs(wrong, INDENT, style).map(style.colors.red)]),
    "",
    ...screenshots.flatMap((file) => renderRow("picture", file, style)),
    ...(output === undefined ? [] : renderRow("written", output, style)),
    ...renderRow(status, summary(result, submitted), style),
  ];
}

function summary({ values, missing, problems }: FormResult, submitted: boolean): string {
  return joined(
    counted(Object.keys(values).length, "value"),
    missing.length > 0 && `${missing.length} missing`,
    problems.length > 0 && counted(problems.length, "problem"),
    submitted && "sent",
  );
}

function about({ type, label, required, pii, options, when }: FormField): string {
  const parts = joined(
    type,
    required && "required",
    pii && `personal (${pii})`,
    options && `one of ${options.map(({ value }) => value).join(", ")}`,
    when && "depends on other fields",
  );
  return `${label === undefined ? "" : `${label}: `}${parts}`;
}

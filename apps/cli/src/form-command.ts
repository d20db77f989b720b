import { Argument, InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { addSettingOptions } from "./command-options.ts";
import { FORM_ACTIONS } from "./invocation.ts";
import type { FormInvocation } from "./invocation.ts";

type Own = Omit<FormInvocation, "command" | "options">;

/** Describes `cem form`. */
export function addFormCommand(command: Command, found: (own: Own, command: Command) => void): void {
  addSettingOptions(command)
    .addArgument(new Argument("<action>", "what to do").choices(FORM_ACTIONS))
    .argument("<file>", 'the form, as YAML or JSON, or "-" to read it from stdin', notEmpty)
    .option("--data <file>", "values by field, as YAML or JSON", notEmpty)
    .option("--trial", "fill in and compare, and send nothing", false)
    .action(
      (
        action: Own["action"],
        file: string,
        { data, trial }: { data?: string | undefined; trial: boolean },
        self: Command,
      ) => found({ action, file, data, trial }, self),
    );
}

function notEmpty(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is the name of a file.");
  return text;
}

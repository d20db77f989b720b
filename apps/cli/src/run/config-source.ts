import type { ConfigInput, ConfigSource } from "code-execution-mcp";
import type { ServerSource } from "code-execution-mcp/admin";
import type { SharedOptions } from "../command/options.ts";
import type { CommandContext } from "../io/command-context.ts";
import { safeText } from "../render/text.ts";

/** Where the configuration comes from, as the command line says. To name a file in a folder is not to trust it. */
export function configSourceOf(options: SharedOptions): ConfigSource {
  return {
    config: overridesOf(options),
    configFile: options.config,
    customer: options.customer,
    trustFolder: false,
  };
}

const CRITICAL = /^\S+ CRITICAL +/u;

/**
 * The same, with what stops the work, and where the log goes when no file is set for it: with --verbose to stderr. What is
 * critical, such as records that were damaged, is said in any case.
 */
export function serverSourceOf(options: SharedOptions, { io, signal }: CommandContext): ServerSource {
  const onLog = (line: string): void => {
    if (options.verbose) io.stderr.write(`${safeText(line)}\n`);
    else if (CRITICAL.test(line)) io.stderr.write(`${safeText(line.replace(CRITICAL, ""))}\n`);
  };
  return { ...configSourceOf(options), onLog, signal };
}

/** Settings given on the command line, in the shape of the configuration. */
function overridesOf(options: SharedOptions): ConfigInput {
  const { workspace, servers, skills, sandbox, minIsolation, typeCheck, timeout } = options;
  return {
    execution: {
      workspaceDir: workspace,
      serversDir: servers,
      skillsDir: skills,
      sandboxType: sandbox,
      minIsolation,
      typeCheck,
    },
    guardrails: { maxExecutionTime: timeout },
  };
}

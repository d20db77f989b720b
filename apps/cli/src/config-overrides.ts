import type { ConfigInput, ConfigSource } from "code-execution-mcp";
import type { SharedOptions } from "./command-options.ts";

/** Where the configuration comes from, as the command line says. */
export function configSourceOf(options: SharedOptions): ConfigSource {
  const config = overridesOf(options);
  return options.config === undefined ? { config } : { config, configFile: options.config };
}

/** Settings given on the command line, in the shape of the configuration. */
function overridesOf(options: SharedOptions): ConfigInput {
  const { workspace, servers, skills, sandbox, minIsolation, timeout } = options;
  const execution = {
    ...(workspace === undefined ? {} : { workspaceDir: workspace }),
    ...(servers === undefined ? {} : { serversDir: servers }),
    ...(skills === undefined ? {} : { skillsDir: skills }),
    ...(sandbox === undefined ? {} : { sandboxType: sandbox }),
    ...(minIsolation === undefined ? {} : { minIsolation }),
  };
  return {
    ...(Object.keys(execution).length === 0 ? {} : { execution }),
    ...(timeout === undefined ? {} : { guardrails: { maxExecutionTime: timeout } }),
  };
}

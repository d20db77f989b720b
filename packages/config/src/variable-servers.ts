import type { EnvironmentSource } from "./environment.ts";
import type { Origin } from "./layer.ts";
import { variableValue } from "./variables.ts";

const NAMED = /^MCP_SERVER_(?<name>\w+)_URL$/u;
const WEB_URL = /^https?:\/\/[^\s/]/iu;

/** An MCP server that a variable `MCP_SERVER_<NAME>_URL` names. */
export interface VariableServer {
  name: string;
  url: string;
  origin: Origin;
}

/** Reads the MCP servers that variables name, strongest source first, each name once. */
export function serversOfVariables(sources: readonly EnvironmentSource[]): {
  servers: VariableServer[];
  warnings: string[];
} {
  const servers = new Map<string, VariableServer>();
  const warnings: string[] = [];
  for (const { from, variables, ofFolder } of sources.toReversed()) {
    for (const variable of Object.keys(variables).toSorted()) {
      const name = NAMED.exec(variable)?.groups?.["name"]?.toLowerCase();
      const url = variableValue(variables, variable);
      if (name === undefined || url === undefined || servers.has(name)) continue;
      if (WEB_URL.test(url))
        servers.set(name, { name, url, origin: { from, label: `${from} ${variable}`, variable, ofFolder } });
      else
        warnings.push(
          `${from} ${variable}  is not used: it is not a URL that begins with http:// or https://. A command goes under mcp_servers.`,
        );
    }
  }
  return { servers: [...servers.values()], warnings };
}

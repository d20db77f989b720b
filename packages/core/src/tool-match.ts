import type { FailedTool } from "./failures.ts";
import type { ToolCall } from "./invocation.ts";
import type { ToolDefinition } from "./tools.ts";

/** A tool of a catalog as calls name it. */
export function calledTool({
  server,
  name,
  originalServer = server,
  originalName = name,
}: Pick<ToolDefinition, "server" | "name" | "originalServer" | "originalName">): Omit<ToolCall, "args"> {
  const isSame = originalServer === server && originalName === name;
  const inCode = isSame ? undefined : { server, tool: name };
  return { server: originalServer, tool: originalName, inCode };
}

/**
 * Reads patterns of tools: `weather.get_forecast`, `weather.*`, `*.delete_*`, `*`, or a server's name alone for all of
 * its tools. Names may hold any characters; `*` stands for any number of them. A tool is meant by either of its names.
 */
export function matchTools(patterns: readonly string[]): (tool: Omit<ToolCall, "args">) => boolean {
  // As most are, for each of thousands of tools that a review looks at.
  if (patterns.length === 0 || patterns.includes("*")) return () => patterns.length > 0;
  const expressions = patterns.map((pattern) => {
    const escaped = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&").replaceAll("*", ".*");
    return new RegExp(`^${escaped}${pattern.includes(".") ? "" : String.raw`(?:\..*)?`}$`, "su");
  });
  const isMeant = ({ server, tool }: FailedTool): boolean => {
    const name = `${server}.${tool}`;
    return expressions.some((expression) => expression.test(name));
  };
  return (called) => isMeant(called) || (called.inCode !== undefined && isMeant(called.inCode));
}

/** Decides by its name whether a tool is meant: `server.tool`. */
export type ToolMatch = (server: string, tool: string) => boolean;

/**
 * Reads patterns of tools: `weather.get_forecast`, `weather.*`, `*.delete_*`, `*`, or a server's name alone for all of
 * its tools. Names may hold any characters; `*` stands for any number of them.
 */
export function matchTools(patterns: readonly string[]): ToolMatch {
  const expressions = patterns.map((pattern) => {
    const escaped = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&").replaceAll("*", ".*");
    return new RegExp(`^${escaped}${pattern.includes(".") ? "" : String.raw`(?:\..*)?`}$`, "su");
  });
  return (server, tool) => {
    const name = `${server}.${tool}`;
    return expressions.some((expression) => expression.test(name));
  };
}

import { isHostTool } from "@cem/bridge/define-tool";
import { nearest } from "@cem/core/text";
import type { PluginParts } from "./define-plugin.ts";

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const isPort = (value: unknown, ...methods: readonly string[]): value is Fields =>
  isObject(value) &&
  value["specificationVersion"] === "v1" &&
  methods.every((name) => typeof value[name] === "function");

const DETECTED_TYPE = /^[A-Z][A-Z\d_]{0,31}$/u;
const COMMAND_NAME = /^[a-z][a-z\d-]{0,40}$/u;
const SCHEME = /^[a-z][a-z\d+.-]{0,20}$/u;

/** What one of a list has to be, in words, and whether it is. */
const LISTS: Readonly<Record<string, { takes: string; fits: (value: unknown) => boolean }>> = {
  detectors: {
    takes: "{ type, pattern }, { type, values } or { type, find } with a type in upper case",
    fits: (value) =>
      isObject(value) &&
      isText(value["type"]) &&
      DETECTED_TYPE.test(value["type"]) &&
      (value["pattern"] instanceof RegExp ||
        typeof value["find"] === "function" ||
        (Array.isArray(value["values"]) && value["values"].every(isText))),
  },
  guards: { takes: "a Guard of v1 with review()", fits: (value) => isPort(value, "review") },
  generators: { takes: "a CodeGenerator of v1 with generate()", fits: (value) => isPort(value, "generate") },
  selectors: {
    takes: "a ToolSelector of v1 with select() and search()",
    fits: (value) => isPort(value, "select", "search"),
  },
  sandboxes: {
    takes: "a SandboxProvider of v1 with a name, probe() and create()",
    fits: (value) => isPort(value, "probe", "create") && isText(value["name"]),
  },
  steps: {
    takes: "a WorkflowStepKind of v1 with a name, a configSchema and run()",
    fits: (value) => isPort(value, "run") && isText(value["name"]) && isObject(value["configSchema"]),
  },
  transports: {
    takes: "an McpTransportProvider of v1 with a scheme and connect()",
    fits: (value) => isPort(value, "connect") && isText(value["scheme"]) && SCHEME.test(value["scheme"]),
  },
};
const FUNCTIONS = new Set(["onEvent", "dispose"]);
const KNOWN = [...Object.keys(LISTS), ...FUNCTIONS, "tools", "commands"];

/**
 * Takes what can be used of what a plugin's `setup` returned.
 *
 * @param onFault - Called for each part that can't, with what is wrong.
 */
export function checkParts(returned: unknown, onFault: (part: string, why: string) => void): PluginParts {
  if (!isObject(returned)) {
    onFault("setup", "it has to return an object with what the plugin adds");
    return {};
  }
  const parts: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(returned)) {
    if (value === undefined) continue;
    const list = Object.hasOwn(LISTS, key) ? LISTS[key] : undefined;
    if (list !== undefined) parts[key] = checkList(key, value, list, onFault);
    else if (key === "tools") parts[key] = checkTools(value, onFault);
    else if (key === "commands") parts[key] = checkCommands(value, onFault);
    else if (!FUNCTIONS.has(key)) onFault(key, unknownPart(key));
    else if (typeof value === "function") parts[key] = value.bind(returned);
    else onFault(key, "it has to be a function");
  }
  return parts;
}

function unknownPart(key: string): string {
  const [near] = nearest(key, KNOWN);
  return `a plugin can't add it. ${near === undefined ? `It can add ${KNOWN.join(", ")}` : `Did you mean ${near}?`}`;
}

function checkList(
  key: string,
  value: unknown,
  { takes, fits }: { takes: string; fits: (value: unknown) => boolean },
  onFault: (part: string, why: string) => void,
): unknown[] {
  if (!Array.isArray(value)) {
    onFault(key, `it has to be a list, each item ${takes}`);
    return [];
  }
  return value.filter((item, index) => {
    const isUsable = fits(item);
    if (!isUsable) onFault(`${key}[${index}]`, `it has to be ${takes}`);
    return isUsable;
  });
}

function checkTools(value: unknown, onFault: (part: string, why: string) => void): Record<string, Fields> {
  const kept = Object.create(null) as Record<string, Record<string, unknown>>;
  for (const [server, own] of Object.entries(isObject(value) ? value : { "": value })) {
    for (const [name, tool] of Object.entries(isObject(own) ? own : { "": own })) {
      if (isHostTool(tool)) (kept[server] ??= {})[name] = tool;
      else onFault(`tools.${server}.${name}`, "it has to be made with defineTool({ … }), by server and name");
    }
  }
  return kept;
}

function checkCommands(value: unknown, onFault: (part: string, why: string) => void): Fields {
  const kept = Object.create(null) as Record<string, unknown>;
  for (const [name, command] of Object.entries(isObject(value) ? value : { "": value })) {
    const isUsable =
      COMMAND_NAME.test(name) &&
      isObject(command) &&
      isText(command["description"]) &&
      typeof command["run"] === "function";
    if (isUsable) kept[name] = command;
    else onFault(`commands.${name}`, "it has to be { description, run() } under a name in lower case");
  }
  return kept;
}

import { SECTIONS, SETTINGS, variablesInWords } from "./settings.ts";
import type { Setting } from "./settings.ts";

const WIDTH = 100;
const TITLE = [
  "Configuration of Code Execution MCP. Every value here is the default: change what you need, delete the rest. Settings behind a # have no default, or no effect yet.",
  "Environment variables win over this file, arguments win over both. Relative paths start at this file's folder.",
];

export interface TemplateOptions {
  /**
   * Path or URL of the JSON Schema, written as a comment for YAML language servers.
   *
   * @defaultValue no such comment
   */
  schema?: string | undefined;
}

/** Renders a config.yaml with every setting, its default and its description. Loading it gives the defaults. */
export function renderConfigTemplate({ schema }: TemplateOptions = {}): string {
  const lines = schema === undefined ? [] : [`# yaml-language-server: $schema=${schema}`];
  lines.push(...TITLE.flatMap((line) => comment(line, "")));
  const opened = new Set<string>();
  for (const setting of SETTINGS) {
    for (const section of SECTIONS) {
      if (opened.has(section.path) || !setting.path.startsWith(`${section.path}.`)) continue;
      opened.add(section.path);
      const indent = "  ".repeat(section.keys.length - 1);
      lines.push("", ...comment(section.description, indent), `${indent}${lastName(section.path)}:`);
    }
    if (setting.keys.length === 1) lines.push("");
    lines.push(...settingLines(setting));
  }
  return `${lines.join("\n")}\n`;
}

function settingLines(setting: Setting): string[] {
  const indent = "  ".repeat(setting.keys.length - 1);
  const value = setting.default === undefined ? "" : ` ${written(setting.default)}`;
  const line = `${lastName(setting.path)}:${value}`;
  const isActive = setting.pending === undefined && setting.default !== undefined;
  return [...comment(about(setting), indent), `${indent}${isActive ? "" : "# "}${line}`];
}

function about({ path, description, allowed, variables, pending, default: standard }: Setting): string {
  const takes =
    typeof standard === "boolean" || /^(?:text|a list|a mapping)/.test(allowed) ? "" : ` Takes ${allowed}.`;
  const named = variables.length === 0 ? "" : ` Variable: ${variablesInWords(path)}.`;
  return `${description}${takes}${named}${pending === undefined ? "" : ` No effect yet: ${pending}.`}`;
}

function written(value: unknown): string {
  // A brace begins a mapping in YAML.
  return typeof value === "string" && !value.startsWith("{") ? value : JSON.stringify(value);
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/** A comment in YAML, broken into lines. */
function comment(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = `${indent}#`;
  for (const word of text.split(" ")) {
    if (line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = `${indent}#`;
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

const STARTER_TITLE = [
  "Configuration of Code Execution MCP: the settings that most projects look at first, with their defaults. All others have theirs, too: cem doctor --config lists every one.",
  "Environment variables win over this file, options of the command over both. Relative paths start at this file's folder.",
];

/** The settings that are shown. Those behind a # are to be decided by the project. */
const SHOWN: Readonly<Record<string, readonly [path: string, example?: string][]>> = {
  execution: [
    ["execution.sandbox_type"],
    ["execution.min_isolation"],
    ["execution.allow_network_access"],
    ["execution.mount_directories", "[../data]"],
  ],
  llm: [
    ["llm.enabled", "true"],
    ["llm.provider", "openai"],
    ["llm.model", "gpt-4o-mini"],
  ],
  guardrails: [
    ["guardrails.max_execution_time"],
    ["guardrails.max_memory_mb"],
    ["guardrails.approvals", "[writes]"],
    ["guardrails.allowed_networks", "[api.example.com]"],
  ],
  logging: [["logging.level"], ["logging.file", "logs/cem.log"]],
};

/** Renders the config.yaml of a new project. Loading it gives the defaults. */
export function renderStarterConfig(): string {
  const lines = STARTER_TITLE.flatMap((line) => comment(line, ""));
  for (const [section, settings] of Object.entries(SHOWN)) {
    lines.push("", `${section}:`, ...settings.flatMap(([path, example]) => starterLines(path, example)));
  }
  return `${lines.join("\n")}\n`;
}

function starterLines(path: string, example: string | undefined): string[] {
  const setting = SETTINGS.find((one) => one.path === path);
  const name = path.slice(path.lastIndexOf(".") + 1);
  const standard = setting?.default;
  const value = example ?? (typeof standard === "string" ? standard : JSON.stringify(standard));
  return [
    ...comment(setting?.description ?? "", "  "),
    `  ${example === undefined ? "" : "# "}${name}: ${value}`,
  ];
}

import { SETTINGS } from "./settings.ts";

const WIDTH = 100;

function comment(text: string, indent: string): string[] {
  const line = new RegExp(`\\S.{0,${WIDTH - indent.length - 3}}(?=\\s|$)`, "gu");
  return Array.from(text.matchAll(line), ([words]) => `${indent}# ${words}`);
}

const STARTER_TITLE = [
  "Configuration of Code Execution MCP: the settings that most projects look at first, with their defaults. All others have theirs, too: cem doctor --config lists every one.",
  "Environment variables win over this file, options of the command over both. Relative paths start at this file's folder.",
];

/** The settings to show. Those that are commented out are for the project to decide. */
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
  for (const [section, settings] of Object.entries(SHOWN))
    lines.push("", `${section}:`, ...settings.flatMap(([path, example]) => starterLines(path, example)));
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

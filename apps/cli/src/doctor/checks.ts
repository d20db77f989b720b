import type { ErrorDetails, ErrorInfo, KnownErrorCode, SandboxProbe } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import type { LoadedConfig } from "code-execution-mcp";
import type { ExaminedServer, FolderReport, HostReport } from "code-execution-mcp/admin";
import { PYTHON_HINT, catalogSize } from "../render/catalog.ts";
import { notesOf } from "../render/servers.ts";
import { counted, duration, joined, shortPath } from "../render/text.ts";

/** `broken` means that a task can't run. */
export type CheckState = "ok" | "warning" | "off" | "broken";

export interface Check {
  name: string;
  state: CheckState;
  summary: string;
  /** Details and advice, one line each. */
  notes: string[];
}

/** @param notes - Those that are absent are left out. */
export function check(
  name: string,
  state: CheckState,
  summary: string,
  notes: readonly (string | false | undefined)[] = [],
): Check {
  return { name, state, summary, notes: notes.flatMap((note) => (typeof note === "string" ? note : [])) };
}

/** Checks tools, sandboxes, workspace and model. */
export function checkHost(report: HostReport): Check[] {
  const { configuration, sandboxes } = report;
  return [
    checkServers(report),
    ...checkState(report.upstream),
    ...checkPlugins(report.plugins),
    ...sandboxes.map(({ name, probe }) => checkSandbox(name, probe)),
    ...(sandboxes.some(({ probe }) => probe.available)
      ? []
      : [check("isolation", "broken", "no sandbox can start here")]),
    checkWorkspace(report.workspace),
    ...report.services.map(checkService),
    checkSearch(report.search),
    checkModel(configuration, report.packages.openai),
    checkForms(report.packages),
  ];
}

/** The check for an error that prevented all others. */
export function checkFailure({ code, message, hint }: ErrorInfo): Check {
  const name = code.startsWith("CONFIG_") ? "config" : code.startsWith("SANDBOX_") ? "sandbox" : "problem";
  const [summary = "", ...notes] = message.split("\n");
  return check(name, "broken", summary, [...notes, ...(hint?.split("\n") ?? [])]);
}

export function checkConfig({ file, origins, warnings }: LoadedConfig): Check {
  const from = (source: string, shown: string): string | false => {
    const count = Object.values(origins).filter((origin) => origin.from === source).length;
    return count > 0 && `${counted(count, "value")} from ${shown}`;
  };
  const summary = joined(
    file === undefined ? "no config.yaml, using defaults" : shortPath(file),
    from("environment", "the environment"),
    from(".env", ".env"),
    from("argument", "arguments"),
  );
  const notes = [...warnings, "cem doctor --config shows each value"];
  return check("config", notes.length > 1 ? "warning" : "ok", summary, notes);
}

function checkServers({ catalog: { servers, problems }, servers: folder, upstream }: HostReport): Check {
  const unreachable = upstream.filter(({ state }) => state !== "ready" && state !== "disabled").length;
  const lost = unreachable === 0 ? "" : ` (${unreachable} unreachable)`;
  const summary = joined(
    catalogSize(servers),
    problems.length > 0 && counted(problems.length, "problem"),
    upstream.length > 0 && `${upstream.length} upstream${lost}`,
  );
  const notes = problems.map(({ server, file, line, message, cause }) => {
    // A problem of the whole folder names it.
    if (server === "") return cause === "python" ? `${message} ${PYTHON_HINT}` : message;
    return `${shortPath(file)}${line === undefined ? "" : `:${line}`}  ${message}`;
  });
  for (const server of upstream) notes.push(...notesOf(server).map((note) => `${server.name}: ${note}`));
  if (servers.length + upstream.length === 0)
    notes.push(`nothing in ${shortPath(folder.path)}: cem init makes a first tool`);
  return check("servers", notes.length > 0 ? "warning" : "ok", summary, notes);
}

const SHARING = {
  stateless: "the protocol gives it no session, so that all calls share a connection",
  shared: "all sessions share one connection, and its state. Set  connections: session",
  session: "each session has a connection of its own; runs without a session follow each other on one",
  run: "each session has a connection of its own, and runs side by side have further ones",
} as const;

const MAX_NAMED_TOOLS = 3;

/** Reports servers that seem to keep state between calls, and how it is shared. */
export function checkState(upstream: readonly Pick<ExaminedServer, "name" | "sharing" | "statefulTools">[]) {
  const stateful = upstream.filter(({ statefulTools = [] }) => statefulTools.length > 0);
  if (stateful.length === 0) return [];
  const notes = stateful.map(
    ({ name, statefulTools = [], sharing }) =>
      `${name} (${statefulTools.slice(0, MAX_NAMED_TOOLS).join(", ")}): ${SHARING[sharing]}`,
  );
  const isShared = stateful.some(({ sharing }) => sharing === "shared");
  const summary = `${counted(stateful.length, "server")} ${stateful.length === 1 ? "looks" : "look"} stateful`;
  return [check("state", isShared ? "warning" : "ok", summary, notes)];
}

/** No check is reported if there are no plugins. */
function checkPlugins(plugins: HostReport["plugins"]): Check[] {
  if (plugins.length === 0) return [];
  const wrong = plugins.filter(({ state, problems }) => state !== "ready" || problems.length > 0);
  const summary = joined(
    counted(plugins.length, "plugin"),
    wrong.length > 0 && `${wrong.length} with a problem`,
  );
  const notes = plugins.flatMap(
    ({ name, version = "", source, state, required, adds, setupMs, problems }) => {
      const title = `${name} ${version}`.trim() + (source === name ? "" : ` from ${source}`);
      const facts = joined(
        state === "held" ? "held back" : state,
        required && "required",
        `set up in ${duration(setupMs)}`,
        adds.length > 0 && `adds ${adds.join(", ")}`,
      );
      return [`${title}: ${facts}`, ...problems];
    },
  );
  return [check("plugins", wrong.length > 0 ? "warning" : "ok", summary, notes)];
}

function checkSandbox(name: string, probe: SandboxProbe): Check {
  if (!probe.available)
    return check(name, "off", "not available", [probe.reason, probe.hint].filter(Boolean));
  const { isolation, version, notes } = probe;
  const summary = `${isolation.sandbox} ${version}, level ${isolation.level}`;
  return check(name, "ok", summary, [isolation.mechanisms.join(", "), ...notes]);
}

function checkWorkspace({ path: folder, exists, writable }: FolderReport): Check {
  const shown = shortPath(folder);
  if (!writable)
    return check("workspace", "broken", `${shown} can't be written`, [
      helpFor("WORKSPACE_UNUSABLE", { folder }),
    ]);
  const summary = exists ? `${shown}, writable` : `${shown}, made by the first run`;
  return check("workspace", "ok", summary);
}

function checkService({ name, location, problem, risks }: HostReport["services"][number]): Check {
  const summary = /^\w+:\/\//u.test(location) ? location : shortPath(location);
  if (problem === undefined) return check(name, risks.length > 0 ? "warning" : "ok", summary, risks);
  // Runs continue without their records.
  const state = name === "records" ? "warning" : "broken";
  return check(name, state, `${summary} can't be used`, [problem.message, hintFor(problem)]);
}

function checkSearch({ embedder, problem }: HostReport["search"]): Check {
  if (embedder === undefined)
    return check("search", "off", "by words only: no embedding model is set", [
      "To compare by meaning, set optimizations.embedding_model_dir, llm.azure_embedder_name or llm.embedding_model",
    ]);
  if (problem !== undefined) return check("search", "warning", `by words only: ${problem}`);
  return check("search", "ok", `by words and by meaning, with ${shortPath(embedder)}`);
}

function checkModel({ config: { llm } }: LoadedConfig, problem: ErrorInfo | undefined): Check {
  const name = "llm";
  if (!llm.enabled) {
    const key = llm.apiKey === undefined ? "" : "a key is set, but ";
    const notes = [`${key}llm.enabled: true or LLM_ENABLED=true switches a model on`];
    return check(name, "off", "off: rules only", notes);
  }
  const { azureEndpoint, baseUrl, model, provider } = llm;
  const needsKey = provider === "azure_openai" || baseUrl === undefined;
  if (needsKey && llm.apiKey === undefined) {
    const notes = [helpFor("LLM_KEY_MISSING", { variable: KEY_VARIABLES[provider] }), BY_RULES];
    return check(name, "warning", `${provider} ${model} has no key`, notes);
  }
  if (provider === "azure_openai" && azureEndpoint === undefined && baseUrl === undefined)
    return check(name, "warning", `${provider} ${model} has no endpoint`, [
      helpFor("LLM_ENDPOINT_MISSING"),
      BY_RULES,
    ]);
  if (problem !== undefined)
    return check(name, "warning", `${provider} ${model} can't be asked`, [...adviceOn(problem), BY_RULES]);
  // Other parts of a URL may hold secrets.
  const where = baseUrl === undefined ? "" : ` at ${URL.parse(baseUrl)?.host ?? "a URL that can't be read"}`;
  return check(name, "ok", `${provider} ${model}${where}, else rules`);
}

function checkForms({ web, pdf }: HostReport["packages"]): Check {
  const filled = joined(web === undefined && "web pages", pdf === undefined && "PDF files");
  if (filled === "") return check("forms", "off", "nothing can be filled", adviceOn(web, pdf));
  return check("forms", "ok", `fills ${filled}`, adviceOn(web, pdf));
}

/** Describes the problems of packages, with a way out. */
function adviceOn(...problems: readonly (ErrorInfo | undefined)[]): (string | undefined)[] {
  return problems.flatMap((problem) => (problem === undefined ? [] : [problem.message, hintFor(problem)]));
}

const BY_RULES = "Until then code is written by rules.";

const KEY_VARIABLES = {
  openai: "OPENAI_API_KEY",
  azure_openai: "AZURE_OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
};

/** The hint for a failure that a task would encounter. */
function helpFor(code: KnownErrorCode, details: ErrorDetails = {}): string | undefined {
  return hintFor({ code, message: "", details });
}

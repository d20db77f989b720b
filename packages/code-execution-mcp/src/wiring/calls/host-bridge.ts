import type { CallRecorder, Middleware, OnUnvalidated } from "@cem/bridge";
import { defineTool, type HostTool } from "@cem/bridge/define-tool";
import type { LoadedConfig } from "@cem/config";
import { Lazy } from "@cem/core";
import type {
  AuditLog,
  JsonSchema,
  ResultStore,
  SkillDraft,
  ToolCatalog,
  ToolInvoker,
  ToolProblem,
} from "@cem/core";
import { hintFor } from "@cem/core/errors";
import type { FileTools, HostToolFolders, LoadedHostTools, McpTools } from "@cem/mcp-client/tools";
import type { AgentOptions } from "../../options.ts";
import type { Log } from "../log.ts";
import { redactCallsOf } from "../privacy/redaction.ts";
import type { Project } from "../project.ts";
import { createConfiguredSkills } from "../skills.ts";
import { createConfiguredCatalog, markApprovals } from "../stages/stages.ts";
import { approvalTest, type CallGuards } from "./call-guards.ts";

interface HostBridgeSettings extends Pick<
  AgentOptions,
  "tools" | "onElicit" | "onApprove" | "redactor" | "replay"
> {
  callGuards: Lazy<CallGuards>;
  audit: AuditLog | undefined;
  /** File tools, for calls that guards apply to. */
  fileTools: FileTools;
  /** Answers calls of tools that are not in `tools`. Calls of a tool source are checked here; any other invoker checks its own. */
  others: ToolInvoker;
  /** Finds the names that a tool of an MCP server has in code. */
  nameInCode: McpTools["findNameInCode"];
  store: ResultStore;
  log: Log;
  /** Collects calls for the records of runs. Absent if runs are not recorded. */
  recorderOfCalls: CallRecorder | undefined;
}

/** Sets up everything between guest code and the tools on the host. @throws CemError `TOOL_INVALID`. */
export async function createHostBridge(forWhom: Project, settings: HostBridgeSettings) {
  const bridge = await import("@cem/bridge");
  const { loadHostTools, withHostTools } = await import("@cem/mcp-client/tools");
  const { onElicit: elicit, onApprove: approve, redactor, replay, store, log, audit, nameInCode } = settings;
  const loaded = await loadHostTools(hostToolFolders(forWhom), settings.tools);
  const problem = await heldProblem(forWhom, loaded.held);
  if (problem !== undefined) log("warning", problem.message);
  const hideSecrets = bridge.createSecretFilter(process.env);
  const hostTools = bridge.createHostTools({ tools: loaded.tools, store, elicit, hideSecrets });
  const { descriptions } = hostTools;

  const proposals = bridge.createHostTools({ tools: skillTools(forWhom) });
  const source = bridge.combineSources([hostTools, proposals, settings.fileTools.source, settings.others]);
  /** Created with the first run, whose review has loaded the guards. */
  const invoker = new Lazy(async (): Promise<ToolInvoker> => {
    const { isAllowed, guards } = await settings.callGuards.get();
    const record = settings.recorderOfCalls?.middleware;
    const replayer = replay && bridge.createReplayer(replay);
    if (replayer !== undefined) return record?.(replayer) ?? replayer;
    const onUnvalidated: OnUnvalidated = ({ server, tool, reason }) =>
      log("warning", `${server}.${tool}: its arguments are not checked: ${reason}.`);
    // The order in which a call passes the middlewares. Its turn is noted before anything is awaited. The recorder comes
    // next, since it records what code sent and received. Then: errors become results, tokens are replaced by values, the tool lists and arguments are checked,
    // contents, rules, limits and approval are applied, and calls that must not overlap are queued. On the way back values
    // are replaced by tokens.
    const middlewares: Middleware[] = [
      bridge.noteArrivals,
      ...(record === undefined ? [] : [record]),
      ...(audit === undefined ? [] : [(await import("@cem/guardrails/audit")).auditCalls(audit)]),
      bridge.answerErrors,
      ...(redactor === undefined ? [] : [await redactCallsOf(redactor, { elicit, approve })]),
      bridge.checkCalls(source, { isAllowed, nameInCode, onUnvalidated }),
      ...guards,
      bridge.orderCalls(),
      ...(audit === undefined ? [] : [(await import("@cem/guardrails/audit")).auditStarts(audit)]),
      bridge.followSentCalls,
    ];
    return bridge.compose(middlewares, source);
  });

  return {
    invoker,
    /** The parts of the sandbox spec that depend on host tools: their names, and hidden files. */
    spec: { hidden: loaded.hidden, hostTools: namesByServer(descriptions) },
    addTo: (catalog: ToolCatalog) =>
      descriptions.length + loaded.problems.length === 0 && problem === undefined
        ? catalog
        : withHostTools(catalog, descriptions, withProblem(loaded, problem)),
  };
}

/** The configured catalog with the host tools defined in files, for listing only. */
export async function createListedCatalog(configuration: Project, mcpTools: McpTools): Promise<ToolCatalog> {
  const { createHostTools } = await import("@cem/bridge");
  const { loadHostTools, withHostTools } = await import("@cem/mcp-client/tools");
  const loaded = await loadHostTools(hostToolFolders(configuration));
  const problem = await heldProblem(configuration, loaded.held);
  const { descriptions } = createHostTools({ tools: loaded.tools });
  const catalog = await createConfiguredCatalog(configuration, mcpTools, namesByServer(descriptions));
  const listed = withHostTools(catalog, descriptions, withProblem(loaded, problem));
  return markApprovals(listed, () => approvalTest(configuration));
}

function withProblem(loaded: LoadedHostTools, problem: ToolProblem | undefined): LoadedHostTools {
  return problem === undefined ? loaded : { ...loaded, problems: [...loaded.problems, problem] };
}

/** The requests of the folder that are blocked until it is trusted, as one problem, if any. */
async function heldProblem(
  { trust, file }: LoadedConfig,
  heldTools: LoadedHostTools["held"],
): Promise<ToolProblem | undefined> {
  if (trust.held.length + heldTools.size === 0) return undefined;
  const { describeHeld } = await import("@cem/config");
  const tools = [...heldTools.keys()].map((name) => ({ kind: "host-tool", name }) as const);
  const message = describeHeld([...trust.held, ...tools], trust.folder);
  const hint = hintFor({ code: "FOLDER_UNTRUSTED", message, details: { folder: trust.folder } });
  const servers = trust.held.filter(({ kind }) => kind === "server").map(({ name }) => name);
  return { server: "", servers, file: file ?? trust.folder, message: `${message} ${hint}` };
}

function hostToolFolders({ config, trust }: LoadedConfig): HostToolFolders {
  const { execution } = config;
  const { serversDir, workspaceDir, mountDirectories } = execution;
  const mounted = mountDirectories.filter(({ mode }) => mode === "rw").map(({ host }) => host);
  return {
    serversDir,
    writableDirs: [workspaceDir, ...mounted],
    async obstacleOf(tool, toolFile) {
      const { held } = await trust.hostTool(tool, toolFile);
      if (held === undefined) return undefined;
      const { folderUntrusted } = await import("@cem/config");
      return folderUntrusted(`The host tool ${tool}`, trust.folder);
    },
    ownPackage: { name: "code-execution-mcp", from: import.meta.url },
  };
}

/** Without a prototype, so that no server name collides with a member of `Object`. */
function namesByServer(tools: readonly { server: string; name: string }[]): Record<string, string[]> {
  const names = Object.create(null) as Record<string, string[]>;
  for (const { server, name } of tools) (names[server] ??= []).push(name);
  return names;
}

const text = { type: "string" } as const;
const DRAFT: JsonSchema = {
  type: "object",
  properties: { name: text, description: text, code: text, test: text, instructions: text },
  required: ["name", "description", "code", "test"],
  additionalProperties: false,
};

/**
 * The tool behind `saveSkill` of the guest's client, under a name that no server can have. Code in the sandbox can only
 * propose a skill. The proposal is checked when it is promoted, not while the code runs.
 */
function skillTools(loaded: Project): Record<string, Record<string, HostTool>> {
  const propose = defineTool({
    description: "Propose a skill.",
    input: DRAFT,
    async execute(draft) {
      const store = await createConfiguredSkills(loaded);
      const { name, status, version } = await store.save(draft as unknown as SkillDraft, {
        author: "model",
        tools: [],
      });
      return { name, status, version };
    },
  });
  return { "cem:skills": { propose } };
}

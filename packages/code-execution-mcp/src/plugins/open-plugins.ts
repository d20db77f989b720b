import type { HostTool } from "@cem/bridge/define-tool";
import { CemError, toErrorInfo } from "@cem/core";
import type {
  CodeGenerator,
  Guard,
  McpTransportProvider,
  SandboxProvider,
  ToolSelector,
  WorkflowStepKind,
} from "@cem/core";
import type { CustomDetector } from "@cem/pii";
import { ownedGenerator, ownedGuard, ownedSelector, type OwnedStage } from "./added-stages.ts";
import type { Plugin, PluginParts } from "./define-plugin.ts";
import { guardDetector, guardPart, guardSandbox } from "./guarded-part.ts";
import { checkParts, importPlugin, requirePlugin, setUpPlugin } from "./load-plugin.ts";
import { createListeners, reasonOf, usePlugin, type PluginUse } from "./plugin-use.ts";

export interface PluginRequest {
  /** Used in messages until its own name is known. */
  named: string;
  from: { file: string; folder: string } | { plugin: unknown };
  options?: Readonly<Record<string, unknown>> | undefined;
  required?: boolean | undefined;
  /** Why it may not be loaded. Its code is not imported then. */
  obstacle?: { state: "held" | "error"; error: CemError } | undefined;
}

/** Kinds of parts with unique names. The first plugin that uses a name owns it. */
export type NamedPart = "server" | "sandbox" | "step" | "transport";

/** The state of a plugin, for display. */
export type PluginReport = ReturnType<typeof reportOf>;

/** Parts of all plugins, checked. */
export type PluginSet = Awaited<ReturnType<typeof openPlugins>>;

/**
 * Loads plugins in order and collects what they add. One that can't be loaded is reported and left out.
 *
 * @param taken - Names that are taken before any plugin adds one.
 * @throws CemError the failure of a plugin that is required.
 */
export async function openPlugins(
  requests: readonly PluginRequest[],
  {
    taken = {},
    log = () => {},
    variable = (name) => process.env[name],
  }: {
    taken?: Partial<Record<NamedPart, readonly string[]>>;
    variable?: (name: string) => string | undefined;
    log?: (message: string) => void;
  } = {},
) {
  let logNow = log;
  let disposed: Promise<void> | undefined;
  const entries: Entry[] = [];
  const listeners = createListeners();
  const all = {
    tools: Object.create(null) as Record<string, Record<string, HostTool>>,
    detectors: [] as CustomDetector[],
    guards: [] as OwnedStage<Guard>[],
    generators: [] as OwnedStage<CodeGenerator>[],
    selectors: [] as OwnedStage<ToolSelector>[],
    sandboxes: new Map<string, SandboxProvider>(),
    steps: [] as WorkflowStepKind[],
    transports: new Map<string, McpTransportProvider>(),
  };
  /** By kind and name. */
  const owners = new Map(
    Object.entries(taken).flatMap(([kind, names]) =>
      names.map((name) => [`${kind} ${name}`, "cem or the project"]),
    ),
  );

  const useOf = (name: string, isRequired: boolean): PluginUse =>
    usePlugin(name, isRequired, (message) => logNow(message));

  /** Claims a name for a plugin. Returns whether it was free. */
  const claim = (
    kind: NamedPart,
    name: string | undefined,
    { use, adds }: Entry,
    isListed = true,
  ): boolean => {
    if (typeof name !== "string" || name === "") {
      use.unusable(kind, "it has no name");
      return false;
    }
    const owner = owners.get(`${kind} ${name}`);
    if (owner !== undefined) {
      use.note(`The ${kind} ${name} of the plugin ${use.name} is left out: ${owner} has one of this name.`);
      return false;
    }
    owners.set(`${kind} ${name}`, `the plugin ${use.name}`);
    if (isListed) adds.push(`${kind} ${name}`);
    return true;
  };

  const takeTools = async (entry: Entry, tools: PluginParts["tools"] = {}): Promise<void> => {
    for (const [server, own] of Object.entries(tools)) {
      if (!claim("server", server, entry, false)) continue;
      const usable = Object.create(null) as Record<string, HostTool>;
      for (const [name, tool] of Object.entries(own)) {
        const fault = await faultOfTool(server, name, tool);
        if (fault !== undefined) {
          entry.use.unusable(`tool ${server}.${name}`, fault);
          continue;
        }
        usable[name] = tool;
        entry.adds.push(`tool ${server}.${name}`);
      }
      all.tools[server] = usable;
    }
  };

  const take = async (entry: Entry, parts: PluginParts): Promise<void> => {
    const { use, adds } = entry;
    await takeTools(entry, parts.tools);
    const addAll = <Given, Made>(
      made: Made[],
      given: readonly Given[] = [],
      make: (part: Given, use: PluginUse) => Made,
      nameOf: (part: Given) => string,
    ): void => {
      for (const part of given) {
        try {
          made.push(make(part, use));
          adds.push(nameOf(part));
        } catch (error) {
          leaveOut(use, nameOf(part), reasonOf(error));
        }
      }
    };
    addAll(all.detectors, parts.detectors, guardDetector, ({ type }) => `detector ${type}`);
    addAll(all.guards, parts.guards, ownedGuard, () => "guard");
    addAll(all.generators, parts.generators, ownedGenerator, () => "generator");
    addAll(all.selectors, parts.selectors, ownedSelector, () => "selector");
    for (const sandbox of parts.sandboxes ?? [])
      if (claim("sandbox", sandbox.name, entry)) all.sandboxes.set(sandbox.name, guardSandbox(sandbox, use));
    for (const step of parts.steps ?? []) if (claim("step", step.name, entry)) all.steps.push(step);
    for (const transport of parts.transports ?? []) {
      if (!claim("transport", transport.scheme, entry)) continue;
      const part = `transport ${transport.scheme}`;
      all.transports.set(transport.scheme, guardPart(part, transport, use, { connect: TRANSPORT }));
    }
    if (parts.onEvent !== undefined) {
      listeners.add(parts.onEvent, use);
      adds.push("event listener");
    }
  };

  const open = async (entry: Entry): Promise<void> => {
    const { named, from, options, required = false } = entry.request;
    const plugin = "file" in from ? await importPlugin(named, from.file) : requirePlugin(from.plugin, named);
    const { name } = plugin;
    const twin = entries.find((other) => other.plugin?.name === name);
    if (twin !== undefined) {
      const message = `The plugin ${named} has the name ${name}, as has ${twin.request.named} before it.`;
      throw new CemError("PLUGIN_INVALID", message, { details: { plugin: name } });
    }
    entry.plugin = plugin;
    entry.use = useOf(name, required);
    const parts = await setUpPlugin(plugin, options, {
      folder: "file" in from ? from.folder : undefined,
      signal: entry.closing.signal,
      variable,
      log: (message) => logNow(`${name}: ${message}`),
    });
    const checked = checkParts(parts, (part, why) => leaveOut(entry.use, part, why));
    entry.dispose = checked.dispose;
    await take(entry, checked);
  };

  const disposeAll = async (): Promise<void> => {
    const ending = entries.map(async ({ closing, dispose, use }) => {
      closing.abort();
      try {
        await dispose?.();
      } catch (error) {
        use.failed("dispose", error);
      }
    });
    await Promise.allSettled(ending);
  };

  for (const request of requests) {
    const { named, required = false, obstacle } = request;
    const entry: Entry = {
      request,
      use: useOf(named, required),
      state: "ready",
      adds: [],
      setupMs: 0,
      closing: new AbortController(),
    };
    entries.push(entry);
    const started = performance.now();
    try {
      if (obstacle !== undefined) {
        entry.state = obstacle.state;
        throw obstacle.error;
      }
      await open(entry);
    } catch (error) {
      if (entry.state === "ready") entry.state = "error";
      entry.closing.abort();
      entry.use.note(toErrorInfo(error).message);
      if (!required) continue;
      await disposeAll();
      throw error;
    } finally {
      entry.setupMs = performance.now() - started;
    }
  }
  return {
    ...all,
    listeners,
    logTo: (other: (message: string) => void) => void (logNow = other),
    reports: () => entries.map(reportOf),
    problems: () => entries.flatMap(({ use }) => use.problems),
    /** Disposes the plugins. Safe to call twice. */
    dispose: () => (disposed ??= listeners.flush().then(disposeAll)),
  };
}

/** The result of a transport provider's `connect`. */
const TRANSPORT = {
  is: (made: Record<string, unknown> | undefined): boolean =>
    ["start", "send", "close"].every((name) => typeof made?.[name] === "function"),
  words: "{ start, send, close }",
};

interface Entry {
  request: PluginRequest;
  use: PluginUse;
  plugin?: Plugin | undefined;
  /** `held`: its folder is not trusted. `error`: it was not set up. */
  state: "ready" | "held" | "error";
  /** The parts it adds: `tool crm.find`, `detector EMPLOYEE`. */
  adds: string[];
  setupMs: number;
  /** Aborts when the plugin is disposed. */
  closing: AbortController;
  dispose?: PluginParts["dispose"];
}

/** Notes a part that can't be used. Throws if its plugin is required. */
function leaveOut(use: PluginUse, part: string, why: string): void {
  const failed = use.unusable(part, why);
  if (use.isRequired) throw failed;
}

/** Why a tool can't be used, though it was made with `defineTool`. */
async function faultOfTool(server: string, name: string, tool: HostTool): Promise<string | undefined> {
  const [{ toolNameFault }, { createHostTools }] = await Promise.all([
    import("@cem/mcp-client/tools"),
    import("@cem/bridge"),
  ]);
  const fault = await toolNameFault(server, name);
  if (fault !== undefined) return `it ${fault}`;
  if (typeof tool.description !== "string" || typeof tool.execute !== "function")
    return "it needs a description and execute()";
  try {
    createHostTools({ tools: { [server]: { [name]: tool } } });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function reportOf({ request, use, plugin, state, adds, setupMs }: Entry) {
  return {
    name: use.name,
    version: typeof plugin?.version === "string" ? plugin.version : undefined,
    /** How the configuration names it: a path or a package. */
    source: request.named,
    state,
    required: use.isRequired,
    adds,
    setupMs,
    problems: use.problems,
  };
}

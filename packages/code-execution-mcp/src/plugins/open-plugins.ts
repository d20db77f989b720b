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
import { ownedGenerator, ownedGuard, ownedSelector } from "./added-stages.ts";
import type { OwnedStage } from "./added-stages.ts";
import type { Plugin, PluginParts } from "./define-plugin.ts";
import { guardDetector, guardPart, guardSandbox } from "./guarded-part.ts";
import { checkParts, importPlugin, requirePlugin, setUpPlugin } from "./load-plugin.ts";
import { EventListeners, PluginUse, reasonOf } from "./plugin-use.ts";
import type { OwnedListener } from "./plugin-use.ts";

/** A plugin to load. */
export interface PluginRequest {
  /** How messages name it until its own name is known. */
  named: string;
  /** The module; or the plugin itself, where it is given in code. */
  from: { file: string; folder: string } | { plugin: unknown };
  options?: Readonly<Record<string, unknown>> | undefined;
  required?: boolean | undefined;
  /** Why it may not be loaded. Its code is then not touched. */
  obstacle?: { state: "held" | "error"; error: CemError } | undefined;
}

/** Settings of {@link openPlugins}. */
export interface OpenPluginsSettings {
  /** Names that are taken before any plugin adds one. */
  taken?: Partial<Record<NamedPart, readonly string[]>> | undefined;
  variable?: ((name: string) => string | undefined) | undefined;
  log?: ((message: string) => void) | undefined;
}

/** Parts that have names, of which each belongs to the first that has it. */
export type NamedPart = "server" | "sandbox" | "step" | "transport";

/** How a plugin stands, for people. */
export interface PluginReport {
  name: string;
  version?: string | undefined;
  /** How the configuration names it: a path or a package. */
  source: string;
  /** `held`: its folder is not trusted. `failed`: it was not set up. */
  state: "ready" | "held" | "error";
  required: boolean;
  /** Parts that it adds: `tool crm.find`, `detector EMPLOYEE`. */
  adds: readonly string[];
  /** The time that its set-up took, in milliseconds. */
  setupMs: number;
  /** Problems, one sentence each. */
  problems: readonly string[];
}

/** Parts of all plugins, checked. */
export interface PluginSet {
  readonly tools: Readonly<Record<string, Readonly<Record<string, HostTool>>>>;
  readonly detectors: readonly CustomDetector[];
  readonly guards: readonly OwnedStage<Guard>[];
  readonly generators: readonly OwnedStage<CodeGenerator>[];
  readonly selectors: readonly OwnedStage<ToolSelector>[];
  readonly sandboxes: ReadonlyMap<string, SandboxProvider>;
  readonly steps: readonly WorkflowStepKind[];
  readonly transports: ReadonlyMap<string, McpTransportProvider>;
  readonly listeners: EventListeners;
  /** Has what is logged from now on go elsewhere. */
  logTo(log: (message: string) => void): void;
  reports(): PluginReport[];
  /** Problems so far, with the plugins' names. */
  problems(): string[];
  /** Lets the plugins free what they hold. Safe to call twice. */
  dispose(): Promise<void>;
}

/**
 * Loads plugins in their order and gathers what they add. One that can't be loaded is reported and left out.
 *
 * @throws CemError the failure of a plugin that is required.
 */
export async function openPlugins(
  requests: readonly PluginRequest[],
  { taken = {}, log = () => {}, variable = (name) => process.env[name] }: OpenPluginsSettings = {},
): Promise<PluginSet> {
  let logNow = log;
  let disposed: Promise<void> | undefined;
  const entries: Entry[] = [];
  const listening: OwnedListener[] = [];
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
  const owned = (names: readonly string[] = []): Map<string, string> =>
    new Map(names.map((name) => [name, "cem or the project"]));
  const owners: Record<NamedPart, Map<string, string>> = {
    server: owned(taken.server),
    sandbox: owned(taken.sandbox),
    step: owned(taken.step),
    transport: owned(taken.transport),
  };

  const useOf = (name: string, isRequired: boolean): PluginUse =>
    new PluginUse(name, isRequired, (message) => logNow(message));

  /** Whether a name is free. It is then the plugin's. */
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
    const owner = owners[kind].get(name);
    if (owner !== undefined) {
      use.note(`The ${kind} ${name} of the plugin ${use.name} is left out: ${owner} has one of this name.`);
      return false;
    }
    owners[kind].set(name, `the plugin ${use.name}`);
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
    for (const detector of parts.detectors ?? []) {
      all.detectors.push(guardDetector(detector, use));
      adds.push(`detector ${detector.type}`);
    }
    for (const guard of parts.guards ?? []) {
      all.guards.push(ownedGuard(guard, use));
      adds.push("guard");
    }
    for (const generator of parts.generators ?? []) {
      all.generators.push(ownedGenerator(generator, use));
      adds.push("generator");
    }
    for (const selector of parts.selectors ?? []) {
      all.selectors.push(ownedSelector(selector, use));
      adds.push("selector");
    }
    for (const sandbox of parts.sandboxes ?? []) {
      if (claim("sandbox", sandbox.name, entry)) all.sandboxes.set(sandbox.name, guardSandbox(sandbox, use));
    }
    for (const step of parts.steps ?? []) if (claim("step", step.name, entry)) all.steps.push(step);
    for (const transport of parts.transports ?? []) {
      if (!claim("transport", transport.scheme, entry)) continue;
      const part = `transport ${transport.scheme}`;
      all.transports.set(transport.scheme, guardPart(part, transport, use, { connect: TRANSPORT }));
    }
    if (parts.onEvent !== undefined) {
      listening.push({ onEvent: parts.onEvent, use });
      adds.push("event listener");
    }
  };

  const open = async (entry: Entry): Promise<void> => {
    const { named, from, options, required = false } = entry.request;
    const plugin =
      "file" in from ? await importPlugin({ named, file: from.file }) : requirePlugin(from.plugin, named);
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
    const checked = checkParts(parts, (part, why) => entry.use.unusable(part, why));
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
  const listeners = new EventListeners(listening);
  return {
    ...all,
    listeners,
    logTo: (other) => {
      logNow = other;
    },
    reports: () => entries.map(reportOf),
    problems: () => entries.flatMap(({ use }) => use.problems),
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
  state: PluginReport["state"];
  adds: string[];
  setupMs: number;
  /** Aborts when the plugin is let go. */
  closing: AbortController;
  dispose?: PluginParts["dispose"];
}

/** Why a tool can't be used, though it was made with `defineTool`. */
async function faultOfTool(server: string, name: string, tool: HostTool): Promise<string | undefined> {
  const [{ toolNameFault }, { createHostTools }] = await Promise.all([
    import("@cem/mcp-client/tools"),
    import("@cem/bridge"),
  ]);
  const fault = await toolNameFault(server, name);
  if (fault !== undefined) return `it ${fault}`;
  if (typeof tool.description !== "string" || typeof tool.execute !== "function") {
    return "it needs a description and execute()";
  }
  try {
    createHostTools({ tools: { [server]: { [name]: tool } } });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function reportOf({ request, use, plugin, state, adds, setupMs }: Entry): PluginReport {
  return {
    name: use.name,
    version: typeof plugin?.version === "string" ? plugin.version : undefined,
    source: request.named,
    state,
    required: use.isRequired,
    adds,
    setupMs,
    problems: use.problems,
  };
}

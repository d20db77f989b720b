import { AsyncLocalStorage } from "node:async_hooks";
import { availableParallelism } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { CheckedCall, KnownTool, ToolSource } from "@cem/bridge";
import { CemError, Lazy, Shares, toolNotFound } from "@cem/core";
import type {
  CatalogSnapshot,
  InvokeContext,
  Sandbox,
  ToolCall,
  ToolCatalog,
  ToolDefinition,
  ToolInvoker,
  ToolResult,
} from "@cem/core";
import { callFileTool } from "./call-file-tool.ts";
import { hostedEntries, localTools, printReplacement } from "./hosted-servers.ts";
import type { LocalTools, NamedTool } from "./hosted-servers.ts";
import { planView, type ProgramView } from "./program-view.ts";
import { createEntryReader } from "./server-entries.ts";
import { openViewSandboxes, type OpenSandbox, type ViewSandboxesSettings } from "./view-sandboxes.ts";

/** Maximum nesting depth of file tools that call each other through the host. */
const MAX_DEPTH = 8;
const MIN_AT_ONCE = 4;
/** Maximum number of cached lists of allowed tools. */
const MAX_LISTS = 100;
/** Marks the URL of the original of a replaced module. */
const OWN_TEXT = "own";

export interface FileToolsSettings extends Pick<
  ViewSandboxesSettings,
  "serversDir" | "skillsDir" | "viewsDir"
> {
  /** Whether guards may apply to tools in every run. Otherwise, only in runs with their own list of tools. */
  isGuarded: boolean;
  /** Returns a test whether a guard applies to a tool in a run. */
  concern: () => Promise<(tool: NamedTool, allowedTools?: readonly string[]) => boolean>;
  /** The catalog of all tools. */
  catalog: Lazy<ToolCatalog>;
  /** Executes the calls that tools make, with the same checks as calls of other code. */
  invoker: () => ToolInvoker;
  /** Receives what tools printed. */
  onOutput: (tool: string, text: string) => void;
}

/** State shared by the runs with the same list of tools. */
interface Arrangement {
  /** The inputs that it was computed from. */
  made: string;
  view: ProgramView;
  tools: LocalTools;
  /** Guarded tools by the URL of the module that defines them. */
  guarded: ReadonlyMap<string, readonly ToolDefinition[]>;
}

/** File tools that run under the control of the host. */
export type FileTools = ReturnType<typeof createFileTools>;

/**
 * Lets the host run file tools to which guards apply (rules, limits, approvals, lists of tools), each call in a separate
 * guest. Code imports stub modules in their place, which only call them.
 */
export function createFileTools(settings: FileToolsSettings) {
  const { serversDir, skillsDir, viewsDir } = settings;
  const readEntries = createEntryReader(serversDir);
  const arrangements = new Map<string, Arrangement>();
  const depths = new AsyncLocalStorage<number>();
  /** Limits concurrent calls per session, since each needs a process with the full memory of a run. */
  const slots = new Shares(Math.max(MIN_AT_ONCE, availableParallelism()));
  /** Single-use runs with a pending end listener. */
  const single = new Set<string>();
  const knownTools = new WeakMap<ToolDefinition, KnownTool>();
  let lastSnapshot: CatalogSnapshot | undefined;
  let toolSandbox: Lazy<Sandbox> | undefined;

  /** Determines the tools to which guards apply in runs with a list of allowed tools. `undefined`: none. */
  async function arrange(allowedTools: readonly string[] | undefined): Promise<Arrangement | undefined> {
    if (!settings.isGuarded && allowedTools === undefined) return undefined;
    const concern = await settings.concern();
    const snapshot = lastSnapshot ?? (await (await settings.catalog.get()).list());
    const isGuarded = (tool: NamedTool): boolean => concern(tool, allowedTools);
    // Generated modules only call a server and share no state.
    const generated = new Set(snapshot.servers.filter(({ kind }) => kind === "host").map(({ name }) => name));
    const entries = await readEntries((name) => generated.has(name));
    const tools = localTools(snapshot);
    const hosted = hostedEntries(snapshot, tools, entries, generated, isGuarded);
    const list = JSON.stringify(allowedTools ?? null);
    if (hosted.size === 0) return void arrangements.delete(list);
    const before = arrangements.get(list);
    const made = JSON.stringify([snapshot.version, [...hosted], [...entries.keys()]]);
    const arranged =
      before?.made === made
        ? before
        : {
            made,
            view: await planView(entries, hosted, { tools, serversDir }),
            tools,
            guarded: guardedModules({ tools, hosted, serversDir }, isGuarded),
          };
    arrangements.delete(list);
    arrangements.set(list, arranged);
    const [oldest] = arrangements.keys();
    if (arrangements.size > MAX_LISTS && oldest !== undefined) arrangements.delete(oldest);
    return arranged;
  }

  /** The tools of a server whose files are hidden from some runs. */
  function toolsOf(server: string): readonly ToolDefinition[] | undefined {
    const arranged = [...arrangements.values()].findLast(({ view }) => view.hosted.has(server));
    return arranged?.tools.get(server);
  }

  function find({ server, tool }: ToolCall): KnownTool | undefined {
    const own = toolsOf(server);
    if (own === undefined) return undefined;
    const definition = own.find(({ name }) => name === tool);
    const names = own.map(({ name }) => name);
    if (definition === undefined) throw toolNotFound({ server, tool }, names);
    const { name, inputSchema, outputSchema, annotations } = definition;
    const made = { name, inputSchema, outputSchema, annotations, sandboxed: true };
    const known = knownTools.get(definition) ?? made;
    knownTools.set(definition, known);
    return known;
  }

  async function invoke(call: CheckedCall, context: InvokeContext): Promise<ToolResult> {
    const { server, tool: name } = call;
    const tool = toolsOf(server)?.find((one) => one.name === name);
    const sandbox = await toolSandbox?.get();
    if (tool === undefined || sandbox === undefined) throw toolNotFound({ server, tool: name }, []);
    const depth = depths.getStore() ?? 0;
    if (depth >= MAX_DEPTH) {
      const message = `${server}.${name} was not called: tools call each other more than ${MAX_DEPTH} levels deep.`;
      throw new CemError("TOOL_FAILED", message, { details: { server, tool: name, depth } });
    }
    const session = sessionOf(context, depth, sandbox);
    const run = async (): Promise<ToolResult> =>
      callFileTool(tool, call, context, {
        sandbox,
        session,
        modules: await replacements(tool, context),
        invoker: {
          specificationVersion: "v1",
          invoke: (made, inner) => depths.run(depth + 1, () => settings.invoker().invoke(made, inner)),
        },
        onOutput: (text) => settings.onOutput(`${server}.${name}`, text),
      });
    // Nested calls use the slot of the outer tool.
    if (depth > 0) return run();
    return slots.run(session ?? "", context.signal, async () => {
      context.signal.throwIfAborted();
      return run();
    });
  }

  /**
   * The session whose guests run a tool. A single-use run has separate guests for its tools, too. Nested tools run in other
   * guests than the tool that calls them, which would otherwise wait for itself.
   */
  function sessionOf(
    { session, singleUse, run = "", signal }: InvokeContext,
    depth: number,
    sandbox: Sandbox,
  ): string | undefined {
    if (singleUse !== true) return depth === 0 ? session : `\0${depth}\0${session ?? ""}`;
    const own = `\0${depth}\0run ${run}`;
    if (!single.has(own)) {
      single.add(own);
      const end = (): void => {
        single.delete(own);
        sandbox.endSession?.(own);
      };
      signal.addEventListener("abort", end, { once: true });
    }
    return own;
  }

  /** Replacement modules for guarded tools, except the one that is called. */
  async function replacements(
    { file }: ToolDefinition,
    { allowedTools }: InvokeContext,
  ): Promise<Record<string, string>> {
    const arranged = arrangements.get(JSON.stringify(allowedTools ?? null)) ?? (await arrange(allowedTools));
    const others = [...(arranged?.guarded ?? [])].filter(([, tools]) =>
      tools.every((tool) => tool.file !== file),
    );
    return Object.fromEntries(
      others.map(([url, tools]) => [url, printReplacement(tools, `${url}?${OWN_TEXT}`)]),
    );
  }

  const source: ToolSource = { specificationVersion: "v1", find, invoke };
  return {
    /** The tools of the servers whose files are hidden from code. */
    source,
    /** Remembers the tools that a catalog lists. */
    remembering: (catalog: ToolCatalog): ToolCatalog => ({
      specificationVersion: "v1",
      list: async (options) => (lastSnapshot = await catalog.list(options)),
    }),
    /** Opens the sandbox for code, without the files of tools to which guards apply. */
    openSandbox(open: OpenSandbox): Promise<Sandbox> {
      const tools = new Lazy(() => open({ nested: true }));
      toolSandbox = tools;
      const viewOf = async (allowedTools?: readonly string[]): Promise<ProgramView | undefined> =>
        (await arrange(allowedTools))?.view;
      return openViewSandboxes({ open, tools, serversDir, skillsDir, viewsDir, viewOf });
    },
  };
}

/** Guarded tools by the sandbox URL of the module that defines them. */
function guardedModules(
  { tools, hosted, serversDir }: { tools: LocalTools; hosted: ReadonlySet<string>; serversDir: string },
  isGuarded: (tool: NamedTool) => boolean,
): ReadonlyMap<string, readonly ToolDefinition[]> {
  const guarded = [...hosted].flatMap((server) => tools.get(server) ?? []).filter(isGuarded);
  const byUrl = Map.groupBy(guarded, ({ file = "" }) => {
    const relative = path.relative(serversDir, file).split(path.sep);
    return relative.includes("..") ? "" : pathToFileURL(`/workspace/servers/${relative.join("/")}`).href;
  });
  byUrl.delete("");
  return byUrl;
}

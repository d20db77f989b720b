import {
  answerErrors,
  checkCalls,
  compose,
  createHostTools,
  createRecorder,
  createReplayer,
  combineSources,
} from "@cem/bridge";
import type {
  CallCheckSettings,
  HideSecrets,
  HostTool,
  HostTools,
  Middleware,
  Recorder,
  ToolSource,
} from "@cem/bridge";
import type { Elicit, ResultStore, ToolInvoker } from "@cem/core";
import type { Log } from "./log.ts";

/** What is behind the bridge, and what happens on the way. */
export interface BridgeSettings {
  /** Host tools by server and name. */
  tools: Readonly<Record<string, Readonly<Record<string, HostTool>>>>;
  /** What answers all other calls, such as the tools of MCP servers. An invoker without a `find` checks its own calls. */
  others?: ToolSource | ToolInvoker | undefined;
  store: ResultStore;
  log?: Log | undefined;
  elicit?: Elicit | undefined;
  hideSecrets: HideSecrets;
  /** Remembers every call. */
  record?: boolean | undefined;
  /** A recording that answers in place of all tools. */
  replay?: unknown;
}

export interface Bridge {
  invoker: ToolInvoker;
  hostTools: HostTools;
  /** Set when calls are recorded. */
  recorder?: Recorder | undefined;
}

/**
 * Everything between guest code and the tools on the host, in the order that a call meets it.
 *
 * @throws CemError `TOOL_INVALID` or `RECORDING_INVALID`.
 */
export function createBridge(settings: BridgeSettings): Bridge {
  const { tools, others, store, log, elicit, hideSecrets, record = false, replay } = settings;
  const hostTools = createHostTools({ tools, store, elicit, hideSecrets });
  if (replay !== undefined) return { invoker: createReplayer(replay, { store }), hostTools };

  const routes = combineSources(others === undefined ? [hostTools] : [hostTools, others]);
  let recorder: Recorder | undefined;
  const recorded: Middleware = (next) => (recorder = createRecorder(next, { store, hideSecrets }));
  const onUnvalidated: CallCheckSettings["onUnvalidated"] = ({ server, tool, reason }) =>
    log?.("warning", `${server}.${tool}: its arguments are not checked: ${reason}.`);

  const invoker = compose(
    [
      // Outermost: what guest code sent and got is what a replay answers with.
      ...(record ? [recorded] : []),
      answerErrors,
      // Is the tool known and allowed, and are its arguments valid?
      checkCalls(routes, { onUnvalidated }),
    ],
    // To the tool: time limits, results as handles.
    routes,
  );
  return recorder === undefined ? { invoker, hostTools } : { invoker, hostTools, recorder };
}

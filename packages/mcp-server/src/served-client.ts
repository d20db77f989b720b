import { ownerNameOf } from "./request-owner.ts";
import type { OpenOwner } from "./request-owner.ts";
import { currentExchange } from "./exchange.ts";
import { MAX_CODE_CHARACTERS, MAX_TASK_CHARACTERS } from "./limits.ts";
import { ownerOf, requireLength, sessionOf } from "./tools/server-tool.ts";
import type { Caller, HostOf, ServedParts, ToolHost } from "./tools/server-tool.ts";

/** Finds the agent and the stores for a request: those of its owner, where requests have owners. */
export function hostPerRequest(host: ToolHost, openOwner: OpenOwner | undefined): HostOf {
  if (openOwner === undefined) return () => host;
  const ofRequest = async (context: Caller): Promise<ToolHost> => ({
    ...host,
    ...(await openOwner(ownerNameOf(context))),
  });
  // Of one call, what is opened first is used to the end: an owner who is deleted meanwhile must not come back.
  const opened = new WeakMap<Caller, Promise<ToolHost>>();
  return (context) => {
    const opening = opened.get(context) ?? ofRequest(context);
    opened.set(context, opening);
    return opening;
  };
}

/** The agent and the stores of an authenticated client, for interfaces beside MCP. */
export interface ServedClient extends Readonly<Omit<ServedParts, "runWorkflow">> {
  /** The owner of the runs that the client may see: the owner of its requests, else itself. */
  readonly audience: string;
  readonly session: string | undefined;
  /**
   * Starts a run without waiting for it.
   *
   * @throws CemError `INPUT_TOO_LARGE`, `SERVER_BUSY` or `SERVER_CLOSING`
   */
  launch(kind: "task" | "code", input: string): { readonly id: string };
}

export function servedClient(host: ToolHost, caller: Caller): ServedClient {
  const { runs, runWorkflow: _, guest: _guest, hintFor: _hint, quotaOwner, ...parts } = host;
  const { agent, redactor } = parts;
  const owner = ownerOf(caller);
  const audience = quotaOwner ?? owner;
  const session = sessionOf(caller);
  return {
    ...parts,
    audience,
    session: session.session,
    launch(kind, input) {
      requireLength(kind, input, kind === "code" ? MAX_CODE_CHARACTERS : MAX_TASK_CHARACTERS);
      return runs.launch({
        kind,
        owner,
        quotaOwner: quotaOwner ?? currentExchange().quotaOwner,
        facts: { input, audience, redactor, session: session.session },
        // The run belongs to no call that could end it.
        signal: new AbortController().signal,
        begin: (options) => {
          const all = { ...options, ...session };
          return kind === "code" ? agent.executeCode(input, all) : agent.executeTask(input, all);
        },
      });
    },
  };
}

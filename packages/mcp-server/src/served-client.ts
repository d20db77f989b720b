import { CemError } from "@cem/core";
import type { AuthInfo, ServerContext } from "@modelcontextprotocol/server";
import { MAX_CODE_CHARACTERS, MAX_TASK_CHARACTERS } from "./limits.ts";
import type { BeginRun } from "./runs/run.ts";
import { clientIdOf, requireLength, runRequest, sessionOf } from "./tools/server-tool.ts";
import type { Caller, HostOf, ServedParts, ToolHost } from "./tools/server-tool.ts";

/** Finds the agent and the stores for a request: those of its owner if requests have owners. */
export function hostPerRequest(host: ToolHost, openOwner: OpenOwner | undefined): HostOf {
  if (openOwner === undefined) return () => host;
  const ofRequest = async (context: Caller): Promise<ToolHost> => ({
    ...host,
    ...(await openOwner(ownerNameOf(context))),
  });
  // A call keeps using the parts that it opened first, so that an owner who is deleted meanwhile is not recreated.
  const opened = new WeakMap<Caller, Promise<ToolHost>>();
  return (context) => {
    const opening = opened.get(context) ?? ofRequest(context);
    opened.set(context, opening);
    return opening;
  };
}

/** The agent and the stores of an authenticated client, for interfaces other than MCP. */
export interface ServedClient extends Readonly<Omit<ServedParts, "runWorkflow">> {
  /** The owner of the runs that the client may see: the owner of its requests, else the client itself. */
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
  const { agent } = parts;
  return {
    ...parts,
    audience: quotaOwner ?? clientIdOf(caller),
    session: sessionOf(caller).session,
    launch(kind, input) {
      requireLength(kind, input, kind === "code" ? MAX_CODE_CHARACTERS : MAX_TASK_CHARACTERS);
      const begin: BeginRun = (options) =>
        kind === "code" ? agent.executeCode(input, options) : agent.executeTask(input, options);
      // The run belongs to no call that could cancel it.
      const { signal } = new AbortController();
      return runs.launch({ ...runRequest(host, caller, { kind, input, begin }), signal });
    },
  };
}

/** The agent and the stores of one customer of a server. */
export interface OwnerParts extends ServedParts {
  /** The quota key of its runs, whichever client starts them. Default: the client's. */
  quotaOwner?: string | undefined;
}

/** How a request identifies its customer. */
export interface OwnerName {
  /** The name in the token's claim or the proxy's header. Absent: `identity` distinguishes customers. */
  given?: string | undefined;
  /** The client's identity: one text for each issuer, client and subject. Empty without authorization. */
  identity: string;
}

/** Opens the parts of a request's customer. Rejects if the customer is unknown. */
export type OpenOwner = (name: OwnerName) => Promise<OwnerParts>;

/** The key of a customer's name in the authorization info of a client. */
const CUSTOMER = "customer";

/** The customer's name that comes with a request. */
export function ownerNameOf({ http }: Pick<ServerContext, "http">): OwnerName {
  const { clientId = "", extra } = http?.authInfo ?? {};
  const given = extra?.[CUSTOMER];
  return { given: typeof given === "string" ? given : undefined, identity: clientId };
}

/** Adds a customer's name to the authorization info. A different name makes it a different client. */
export function withOwner(authInfo: AuthInfo | undefined, given: string): AuthInfo {
  const known: AuthInfo = authInfo ?? { token: "", clientId: "", scopes: [] };
  return {
    ...known,
    clientId: JSON.stringify([known.clientId, given]),
    extra: { ...known.extra, [CUSTOMER]: given },
  };
}

/** @throws CemError `CUSTOMER_UNKNOWN` */
export function ownerUnknown(): CemError {
  return new CemError("CUSTOMER_UNKNOWN", "The request does not say which customer it comes from.");
}

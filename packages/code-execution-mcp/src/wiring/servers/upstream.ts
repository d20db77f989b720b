import type { LoadedConfig } from "@cem/config";
import { isObject, tokenizeInTurns, withoutValues } from "@cem/core";
import type { JsonObject, JsonValue, Lazy, Redactor } from "@cem/core";
import type { AgentServerSettings } from "@cem/mcp-server";
import type { McpTools } from "@cem/mcp-client/tools";
import type { CemServer } from "../../options.ts";
import type { Host } from "../calls/tool-host.ts";
import type { Log } from "../log.ts";

/** The shared session of clients without one: their tokens are all that links their requests. */
const NO_SESSION = "exposed";

type Upstream = NonNullable<AgentServerSettings["upstream"]>;
type Options = Parameters<Upstream["request"]>[2];

/** The resources and prompts of the configured servers, opened on first use. */
export function upstreamOf(
  { config }: LoadedConfig,
  host: Lazy<Host>,
  redactor: Redactor | undefined,
): Upstream {
  const connectionsFor = async (server: string): ReturnType<McpTools["connectionsFor"]> =>
    (await host.get()).mcpTools.connectionsFor(server);
  const upstream: Upstream = {
    servers: config.mcpServers.filter(({ enabled }) => enabled).map(({ name }) => name),
    async list(server, kind, options) {
      const { items } = await (await connectionsFor(server)).list(server, kind, options);
      return items.filter((item) => isObject(item));
    },
    request: async (server, request, options) =>
      (await connectionsFor(server)).request(server, request, options),
  };
  return redactor === undefined ? upstream : redactUpstream(upstream, redactor);
}

/** Replaces values by tokens in what upstream servers return, and tokens by values in what clients send. */
function redactUpstream(upstream: Upstream, redactor: Redactor): Upstream {
  /** Executes a request and redacts its result or error for the client. */
  const seen = async <Data>(
    server: string,
    { session = NO_SESSION }: Pick<Options, "session">,
    work: () => Promise<Data>,
  ): Promise<Data> => {
    const scope = { session, server };
    await redactor.restore?.(session);
    try {
      const data = await work();
      return await tokenizeInTurns(redactor, data, scope);
    } catch (error) {
      throw await withoutValues(error, redactor, scope);
    } finally {
      await redactor.persist?.(session);
    }
  };
  return {
    servers: upstream.servers,
    shownUri: (server, uri, { session = NO_SESSION }) => redactor.tokenize({ uri }, { session, server }).uri,
    list: (server, kind, options) => seen(server, options, () => upstream.list(server, kind, options)),
    request: (server, request, options) =>
      seen(server, options, async () => {
        const { session = NO_SESSION, signal, elicit, sample } = options;
        const target = { session, server, tool: request.method, elicit, signal };
        const params = (await redactor.detokenize(request.params as JsonValue, target)) as JsonObject;
        const { redactQuestions, redactSamples } = await import("@cem/pii");
        return upstream.request(server, { ...request, params } as typeof request, {
          ...options,
          elicit: elicit && redactQuestions(elicit, redactor, { session }),
          sample: sample && redactSamples(sample, redactor, session),
        });
      }),
  };
}

/** Notifies the clients of a server of changes in its upstream servers. */
export async function tellChanges(server: CemServer, host: Lazy<Host>, log: Log): Promise<void> {
  const { mcpTools, redactor } = await host.get();
  const { describeChange } = await import("@cem/mcp-client/tools");
  mcpTools.onToolsChanged((change) => {
    const message = describeChange(change);
    server.listChanged("tools", redactor?.tokenize(message, {}) ?? message);
  });
  mcpTools.onContentsChanged((name, { kind, uri }) => {
    if (uri !== undefined) return server.resourceUpdated(name, uri);
    log("info", `The ${kind} of server "${name}" changed.`);
    return server.listChanged(kind);
  });
}

import type { CallOptions } from "./connection-types.ts";
import type { Run } from "./connection.ts";
import type { OpenClient } from "./open-client.ts";
import { ANY_RESULT } from "./tool-call.ts";

type User = Pick<CallOptions, "session" | "signal">;

/**
 * The resources of a server that sessions watch. A subscription ends with its connection. The next request of its session
 * renews it, or any request if no other connection has it.
 *
 * @param current - The open connections.
 * @param onRenewed - Called with a resource that may have changed while no connection had the subscription.
 */
export function createSubscriptions(current: () => OpenClient[], onRenewed: (uri: string) => void) {
  /** The sessions by the URI that they watch. */
  const watching = new Map<string, Set<string | undefined>>();
  const send = ({ client }: OpenClient, verb: string, uri: string, signal: AbortSignal): Promise<unknown> =>
    client.request({ method: `resources/${verb}`, params: { uri } }, ANY_RESULT, { signal });
  const renew = async (opened: OpenClient, { session, signal }: User): Promise<void> => {
    const renewing = [...watching].map(async ([uri, sessions]) => {
      const isHeld = current().some(({ watched }) => watched.has(uri));
      if (opened.watched.has(uri) || (isHeld && !sessions.has(session))) return;
      opened.watched.add(uri);
      // A refused subscription is not retried on this connection.
      await send(opened, "subscribe", uri, signal).catch(() => signal.aborted && opened.watched.delete(uri));
      if (!isHeld) onRenewed(uri);
    });
    await Promise.all(renewing);
  };
  return {
    add: (opened: OpenClient, uri: string, session: string | undefined): void => {
      opened.watched.add(uri);
      watching.set(uri, (watching.get(uri) ?? new Set()).add(session));
    },
    /** Ends the subscription of a session. The server is told when the last session unsubscribes. */
    async end(uri: string, { session, signal }: User): Promise<void> {
      const sessions = watching.get(uri);
      sessions?.delete(session);
      if (sessions?.size !== 0) return;
      watching.delete(uri);
      const held = current().filter(({ watched }) => watched.delete(uri));
      await Promise.all(held.map((opened) => send(opened, "unsubscribe", uri, signal)));
    },
    /** Makes a session's request renew the subscriptions of its connection first. Returns `run` unchanged if nothing is watched. */
    renewBefore<T>(session: string | undefined, run: Run<T>): Run<T> {
      if (watching.size === 0) return run;
      return async (opened, running) => {
        await renew(opened, { session, signal: running.signal });
        return run(opened, running);
      };
    },
  };
}

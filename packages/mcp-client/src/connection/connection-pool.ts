import { abandonOnAbort, CemError } from "@cem/core";
import { DEFAULT_MAX_CONNECTIONS, DEFAULT_TIMEOUT_MS } from "../settings/server-settings.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";
import { serverClosed } from "../transport/call-failures.ts";
import type { CallOptions } from "./connection-types.ts";
import type { Connection } from "./connection.ts";

/** Idle timeout of a connection, unless it is the server's only one. */
const IDLE_MS = 10 * 60_000;

/** The user of a connection. Users without a session are distinguished by their run or their `elicit`. */
type ConnectionUser = Pick<CallOptions, "session" | "run" | "elicit">;

interface Member {
  connection: Connection;
  /** The session it belongs to. Absent before its first call, when any session may take it. */
  session?: string | undefined;
  /** The run that uses the connection exclusively, until its signal aborts. */
  run?: { id: unknown; signal: AbortSignal } | undefined;
  calls: number;
  /** Number of running requests that belong to no session, such as for the list of tools. */
  others: number;
  idleSince: number;
}

/** Runs without a session are never resumed, so they reuse the same connections. */
const NO_SESSION = "";

/** Creates the pool of connections to one server. Connections are opened on first use. */
export function createConnectionPool(
  settings: McpServerSettings,
  create: () => Connection,
  log: (message: string) => void,
  idleMs = IDLE_MS,
) {
  const { name, connections: sharing = "auto", maxConnections = DEFAULT_MAX_CONNECTIONS } = settings;
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let members: Member[] = [];
  /** Resolves when a connection may have become free. */
  let freed = Promise.withResolvers<void>();
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const firstMember = (): Member => members[0] ?? add();
  const isUnused = ({ calls, others }: Member): boolean => calls === 0 && others === 0;
  /** Whether it has subscriptions, whose notifications would be lost if it were closed. */
  const isWatching = ({ connection }: Member): boolean => (connection.current?.watched.size ?? 0) > 0;
  const isHeld = ({ run }: Member): boolean => run !== undefined && !run.signal.aborted;

  const remove = (member: Member, why: string): void => {
    members = members.filter((other) => other !== member);
    if (member.connection.current !== undefined) log(`A connection to server "${name}" was closed: ${why}.`);
    void member.connection.close();
  };

  const add = (): Member => {
    const member: Member = { connection: create(), calls: 0, others: 0, idleSince: performance.now() };
    members.push(member);
    return member;
  };

  /** Returns the user's connection, or a new one; `undefined` while all are in use. */
  const find = (
    { session = NO_SESSION, run, elicit }: ConnectionUser,
    signal: AbortSignal,
  ): Member | undefined => {
    const shared =
      sharing === "shared" ? firstMember() : members.find(({ connection }) => connection.isStateless);
    if (shared !== undefined) return shared;
    const own = members.filter((member) => member.session === session);
    const isOne =
      (session !== NO_SESSION && sharing !== "run") ||
      // Over HTTP a question arrives on the stream of its call, so that one connection can serve several runs.
      own.some(({ connection }) => connection.current?.transportKind === "http");
    const id = isOne ? undefined : (run ?? elicit);
    const isMine = (member: Member): boolean =>
      isOne || (member.run?.id === id && (id === undefined || isHeld(member)));
    const found =
      own.find(isMine) ??
      own.find((member) => !isHeld(member) && member.calls === 0) ??
      members.find((member) => member.session === undefined) ??
      replaceable();
    if (found === undefined) return undefined;
    found.session = session;
    found.run = id === undefined ? undefined : { id, signal };
    return found;
  };

  /** Returns a new connection. At the maximum, it replaces the least recently used idle one. */
  const replaceable = (): Member | undefined => {
    if (members.length < maxConnections) return add();
    const idle = members.filter(isUnused);
    const byAge = idle.toSorted((one, other) => one.idleSince - other.idleSince);
    const free = byAge.filter((member) => !isHeld(member));
    const oldest = free.find((member) => !isWatching(member)) ?? free[0] ?? byAge[0];
    if (oldest === undefined) return undefined;
    remove(oldest, `${maxConnections} are open, and another session needs one`);
    return add();
  };

  const acquire = async (user: ConnectionUser, signal: AbortSignal): Promise<Member> => {
    const isOpen = members.some(({ connection }) => connection.current !== undefined);
    // The first connection shows whether the server can be shared.
    if (sharing !== "shared" && !isOpen) await firstMember().connection.open(signal);
    let late: AbortSignal | undefined;
    for (;;) {
      if (closing.signal.aborted) throw serverClosed(name);
      const member = find(user, signal);
      if (member !== undefined) {
        member.calls += 1;
        return member;
      }
      late ??= AbortSignal.timeout(timeoutMs);
      try {
        await abandonOnAbort(freed.promise, AbortSignal.any([signal, late, closing.signal]));
      } catch (error) {
        if (signal.aborted || !late.aborted) throw error;
        const message = `All ${maxConnections} connections to server "${name}" are in use by other callers, and none became free within ${timeoutMs} ms.`;
        throw new CemError("SERVER_BUSY", message, { details: { server: name, maxConnections, timeoutMs } });
      }
    }
  };

  const wakeWaiting = (): void => {
    freed.resolve();
    freed = Promise.withResolvers();
  };

  const sweepLater = (): void => {
    if (timer !== undefined || members.length < 2 || closing.signal.aborted) return;
    timer = setTimeout(() => {
      timer = undefined;
      const limit = performance.now() - idleMs;
      for (const member of members.filter((one) => isUnused(one) && one.idleSince <= limit)) {
        // The last one is kept, since it receives change notifications.
        if (members.length > 1 && !isWatching(member)) remove(member, "it was not used any longer");
      }
      sweepLater();
    }, idleMs).unref();
  };

  add();
  return {
    get connections(): readonly Connection[] {
      return members.map(({ connection }) => connection);
    },
    /**
     * Runs work that is independent of the user, such as listing the tools.
     *
     * @param preferred - the connection to use if it still exists.
     */
    async useAny<T>(
      preferred: Connection | undefined,
      work: (connection: Connection) => Promise<T>,
    ): Promise<T> {
      const member =
        members.find(({ connection }) => connection === preferred) ??
        members.find(({ connection }) => connection.current !== undefined) ??
        firstMember();
      member.others += 1;
      try {
        return await work(member.connection);
      } finally {
        member.others -= 1;
        wakeWaiting();
      }
    },
    /**
     * Runs work on the user's connection, which is acquired if needed.
     *
     * @throws CemError `SERVER_BUSY` if none became free in time, and as {@link Connection.open}.
     */
    async use<T>(
      user: ConnectionUser,
      signal: AbortSignal,
      work: (connection: Connection) => Promise<T>,
    ): Promise<T> {
      const member = await acquire(user, signal);
      try {
        return await work(member.connection);
      } finally {
        member.calls -= 1;
        member.idleSince = performance.now();
        wakeWaiting();
        sweepLater();
      }
    },
    async close(): Promise<void> {
      closing.abort(serverClosed(name));
      clearTimeout(timer);
      await Promise.all(members.map(({ connection }) => connection.close()));
    },
  };
}

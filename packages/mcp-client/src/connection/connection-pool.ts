import { abandonOnAbort, CemError } from "@cem/core";
import { DEFAULT_MAX_CONNECTIONS, DEFAULT_TIMEOUT_MS } from "../settings/server-settings.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";
import { serverClosed } from "../transport/call-failures.ts";
import type { CallOptions } from "./connection-types.ts";
import type { Connection } from "./connection.ts";

/** How long a connection is unused before it is closed, unless it is the server's only one. */
const IDLE_MS = 10 * 60_000;

/** The user of a connection. Those without a session are told apart by the run, or by who asks its caller. */
type ConnectionUser = Pick<CallOptions, "session" | "run" | "elicit">;

/** A connection and its user. */
interface Member {
  connection: Connection;
  /** The session it belongs to. Absent before its first call: then it is anybody's. */
  session?: string | undefined;
  /** The run that has the connection to itself, until its signal aborts. */
  run?: { id: unknown; signal: AbortSignal } | undefined;
  /** Number of calls under way. */
  calls: number;
  /** Requests under way that are nobody's, such as for the list of tools. */
  others: number;
  idleSince: number;
}

/** Nobody comes back to runs without a session, so they follow each other on the same connections. */
const NO_SESSION = "";

interface ConnectionPoolOptions {
  settings: McpServerSettings;
  create: () => Connection;
  log: (message: string) => void;
  /** Default: 10 minutes. */
  idleMs?: number | undefined;
}

/** Creates the pool of connections to one server. None is opened before it is used. */
export function createConnectionPool({ settings, create, log, idleMs = IDLE_MS }: ConnectionPoolOptions) {
  const { name, connections: sharing = "auto", maxConnections = DEFAULT_MAX_CONNECTIONS } = settings;
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let members: Member[] = [];
  /** Resolves when a connection may have become free. */
  let freed = Promise.withResolvers<void>();
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;

  const firstMember = (): Member => members[0] ?? add();
  const isUnused = ({ calls, others }: Member): boolean => calls === 0 && others === 0;
  /** Whether it tells its users of changes, which nobody would miss where it was closed. */
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

  /** The connection of the user, or a new one; `undefined` while all are in use. */
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
      // Over HTTP a question comes on the stream of its call, so that runs are told apart on one connection too.
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

  /** A new connection, at the maximum in place of the one that was unused for longest. */
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
    // How the server is reached tells whether it can be shared.
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
        throw new CemError(
          "SERVER_BUSY",
          `All ${maxConnections} connections to server "${name}" are in use by other callers, and none became free within ${timeoutMs} ms.`,
          { details: { server: name, maxConnections, timeoutMs } },
        );
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
        // The last one is kept: it tells of changes.
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
     * Runs work that concerns all users alike, such as listing the tools.
     *
     * @param preferred - the connection to use where it is still there.
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
     * Runs work on the connection that its user has, or gets.
     *
     * @throws CemError `SERVER_BUSY` when none became free in time, and as {@link Connection.open}.
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

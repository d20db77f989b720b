import { CemError } from "@cem/core";

/** Reasons why a store can't be used, each with the message of its library or server. */
const PROBLEMS: readonly (readonly [name: string, says: RegExp])[] = [
  ["damaged", /not a database|disk image is malformed/iu],
  ["full", /^OOM |ENOSPC|no space left|database or disk is full|disk full|out of memory/iu],
  ["password", /WRONGPASS|NOAUTH|invalid password|password authentication failed|no password|SCRAM/iu],
  ["password", /role "[^"]*" does not exist/u],
  ["database", /database "[^"]*" does not exist|DB index is out of range|SELECT is not allowed/u],
  ["evicts", /maxmemory-policy/u],
  ["rights", /permission denied for|NOPERM/u],
  ["readonly", /READONLY|read-only transaction/u],
  ["busy", /too many (?:connections|clients)|connection slots|max number of clients/u],
  ["newer", /newer version/u],
  ["tls", /EPROTO|wrong version number|SSL|TLS|certificate/iu],
  ["silent", /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(?:HOST|NET)UNREACH|ETIMEDOUT|timeout|terminated|closed/iu],
];

/**
 * Creates the error for a store that does not answer, or answers with an error. `details.problem` names the reason if
 * it is known.
 *
 * @param lost - The reason why the connection was last lost.
 */
export function storeUnavailable(location: string, error: unknown, lost?: Error): CemError {
  // The exhausted retries don't tell the reason.
  const cause = (error as Error).name === "MaxRetriesPerRequestError" ? (lost ?? error) : error;
  const { code, message } = cause as { code?: string; message?: string };
  // Redis's client attaches the failed command, which may contain the password.
  if (cause instanceof Error) delete (cause as { command?: unknown }).command;
  const why = (message || code || String(cause)).replace(/(?<!\.)\.+$/u, "");
  const said = `${code ?? ""} ${message ?? ""}`.trim();
  // When only one side speaks TLS, it waits for the other, or the connection is closed.
  const isOtherProtocol =
    /ECONNRESET/u.test(said) || (location.startsWith("rediss:") && /ETIMEDOUT/u.test(said));
  const problem = isOtherProtocol ? "tls" : PROBLEMS.find(([, says]) => says.test(said))?.[0];
  return new CemError("STORE_UNAVAILABLE", `The store at ${location} can't be used: ${why}.`, {
    cause,
    details: { location, ...(problem !== undefined && { problem }) },
  });
}

/** A server of the Redis protocol that can be asked for its settings. */
interface AskedServer {
  info(section: "memory"): Promise<string>;
  config(command: "GET", setting: string): Promise<unknown>;
}

/**
 * The risk that a server evicts data when its memory is full, and the remedy. `undefined`: it refuses writes instead.
 * `isKnown`: whether the server tells its policy, since INFO and CONFIG may both be forbidden.
 */
export async function evictionRisk(
  server: AskedServer,
): Promise<{ isKnown: boolean; text: string } | undefined> {
  const memory = await ifPermitted(server.info("memory"));
  let policy = /^maxmemory_policy:(\S+)/mu.exec(memory ?? "")?.[1];
  if (policy === undefined) {
    const answer = await ifPermitted(server.config("GET", "maxmemory-policy"));
    if (Array.isArray(answer)) policy = answer[1] as string | undefined;
  }
  if (policy === "noeviction") return undefined;
  const isKnown = policy !== undefined;
  const text = isKnown
    ? `It may drop what it has when its memory is full (maxmemory-policy ${policy}). Set noeviction.`
    : "It does not say what it drops when its memory is full. See to it that maxmemory-policy is noeviction.";
  return { isKnown, text };
}

/** The answer; `undefined` when the server does not permit or does not know the command. */
async function ifPermitted<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (/^(?:NOPERM|ERR unknown command)/u.test((error as Error).message)) return undefined;
    throw error;
  }
}

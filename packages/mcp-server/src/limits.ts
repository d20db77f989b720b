import { availableParallelism } from "node:os";

/** How long a call waits for its run before it returns the run's id. Clients time out after about a minute. */
export const DEFAULT_YIELD_AFTER_MS = 45_000;
/** Running and waiting runs of all clients. */
export const MAX_RUNS = 1_000;
/** Running and waiting runs of one client. */
export const MAX_RUNS_PER_CLIENT = 500;
/** Concurrent runs of one client over HTTP on this machine: half of what sandboxes admit. Further ones are queued. */
export const MAX_ACTIVE_RUNS_PER_CLIENT = Math.max(4, availableParallelism());
/**
 * Runs of one client that wait for answers and leave their places to its other runs. They keep their guests, so one less
 * than would take all that sandboxes admit.
 */
export const MAX_ASKING_RUNS_PER_CLIENT = MAX_ACTIVE_RUNS_PER_CLIENT - 1;
/** The length of code over HTTP, in characters. */
export const MAX_CODE_CHARACTERS = 128 * 1024;
/** The length of each text of a skill that is saved over HTTP. Its code is parsed on the shared main thread. */
export const MAX_SKILL_CHARACTERS = 32 * 1024;
/** The length of a task over HTTP, in characters. */
export const MAX_TASK_CHARACTERS = 64 * 1024;
/** Runs of one owner that outlasted their call and are kept for `read_result`. */
export const MAX_KEPT_RUNS_PER_CLIENT = 64;
/** Kept runs of all owners. */
export const MAX_KEPT_RUNS = 1_000;
/** The size of the kept results of one owner, except the latest. */
export const MAX_KEPT_CHARACTERS_PER_CLIENT = 16 * 1024 * 1024;
/** The size of the kept results of all owners. */
export const MAX_KEPT_CHARACTERS = 128 * 1024 * 1024;
/** The idle timeout of a kept run, after which it is cancelled and forgotten. */
export const YIELDED_RUN_IDLE_MS = 10 * 60_000;
/** Unanswered questions of a run: enough for the concurrent calls of a program, but a bound for a flooding server. */
export const MAX_OPEN_QUESTIONS = 100;
/** The total size of open questions, including forms and sampling requests. */
export const MAX_OPEN_QUESTIONS_CHARACTERS = 1024 * 1024;
/** The length of a question's message. Longer ones are truncated. */
export const MAX_QUESTION_CHARACTERS = 16 * 1024;
/** Output kept of an active run. */
export const MAX_LIVE_OUTPUT_CHARACTERS = 256 * 1024;

export const DEFAULT_PAGE_BYTES = 16 * 1024;
export const MAX_PAGE_BYTES = 256 * 1024;
export const MAX_SEARCH_RESULTS = 100;

/** Interval between two progress notifications about tool calls, so that a loop does not flood the client. */
export const MIN_PROGRESS_INTERVAL_MS = 100;

/** The size of a message over stdio. A larger one is answered with an error. */
export const MAX_STDIO_MESSAGE_BYTES = 16 * 1024 * 1024;

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 3_000;
export const MAX_BODY_BYTES = 1024 * 1024;
/** Messages in one body, which older revisions allow to be a batch. */
export const MAX_BATCH_MESSAGES = 50;
/** Values in the JSON of one body: list items and object properties. */
export const MAX_JSON_VALUES = 20_000;
/** Nesting depth of the JSON of one body. */
export const MAX_JSON_DEPTH = 200;
/** The length of a property name in it. */
export const MAX_JSON_NAME_BYTES = 1_024;
/** The length of an identifier in a message: its id, a method, a tool, a URI, a client. */
export const MAX_NAMED_CHARACTERS = 2_048;
/** The length of an argument other than code, tasks and variables: a query, a name, a path. */
export const MAX_ARGUMENT_CHARACTERS = 4_096;
/** Problems with arguments listed in one answer. */
export const MAX_LISTED_PROBLEMS = 10;
/** The length of each of them. */
export const MAX_PROBLEM_CHARACTERS = 500;
export const MAX_HEADER_BYTES = 16 * 1024;
export const HEADERS_TIMEOUT_MS = 10_000;
/** Timeout for receiving a whole request; the answer may take longer. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Keep-alive timeout: longer than the minute of load balancers, so that they never send on a connection that is being closed. */
export const KEEP_ALIVE_MS = 65_000;
export const MAX_CONNECTIONS = 2_000;
/** Connections of one address, so that it can't take all of them. */
export const MAX_CONNECTIONS_PER_ADDRESS = 1_000;
/** The delay that clients are asked to wait before they reconnect to an interrupted event stream. */
export const STREAM_RETRY_MS = 1_000;
/** How long a request continues after its event stream was interrupted, for its client to reconnect. */
export const STREAM_RESUME_MS = 3_000;
/** Events of a session kept for a client that reconnects. */
export const MAX_KEPT_EVENTS = 200;
/** The size of those events as JSON. */
export const MAX_KEPT_EVENT_CHARACTERS = 4 * 1024 * 1024;
/** The size of the events of all sessions. Beyond it, each session keeps only the minimum. */
export const MAX_ALL_KEPT_EVENT_CHARACTERS = 64 * 1024 * 1024;
export const MIN_KEPT_EVENT_CHARACTERS = 128 * 1024;
/** Sessions of the 2025-11-25 protocol and older, and open SSE streams. */
export const MAX_SESSIONS = 1_000;
export const SESSION_IDLE_MS = 30 * 60_000;
/** Minimum idle time before a session in which a tool was called, or that a client listens to, is closed for a newer one. */
export const SESSION_MIN_IDLE_MS = 10_000;
/** The fraction of the sessions, and of the connections, that one owner can use. */
export const SESSION_SHARE = 0.5;
export const SESSION_SWEEP_INTERVAL_MS = 60_000;

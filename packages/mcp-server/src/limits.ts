import { availableParallelism } from "node:os";

/** How long a call waits for its run before it answers with the run's id. Clients time out after about a minute. */
export const DEFAULT_YIELD_AFTER_MS = 45_000;
/** Runs under way or waiting at once, of all clients. */
export const MAX_RUNS = 1_000;
/** Runs of one client under way or waiting at once. */
export const MAX_RUNS_PER_CLIENT = 500;
/** Runs of one client over HTTP under way at once on this machine: half of what sandboxes admit. Its further ones wait. */
export const MAX_ACTIVE_RUNS_PER_CLIENT = Math.max(4, availableParallelism());
/** The length of code over HTTP, in characters. */
export const MAX_CODE_CHARACTERS = 128 * 1024;
/** The length of each text of a skill that is saved over HTTP. Its code is parsed on everybody's time. */
export const MAX_SKILL_CHARACTERS = 32 * 1024;
/** The length of a task over HTTP, in characters. */
export const MAX_TASK_CHARACTERS = 64 * 1024;
/** Runs of one owner that outlasted their call and are kept for `read_result`. */
export const MAX_KEPT_RUNS_PER_CLIENT = 64;
/** Kept runs of all of them. */
export const MAX_KEPT_RUNS = 1_000;
/** The size of the kept results of one of them, beside that of the last one. */
export const MAX_KEPT_CHARACTERS_PER_CLIENT = 16 * 1024 * 1024;
/** The size of the kept results of all of them. */
export const MAX_KEPT_CHARACTERS = 128 * 1024 * 1024;
/** The idle timeout of a kept run: it is ended and forgotten. */
export const YIELDED_RUN_IDLE_MS = 10 * 60_000;
/** Questions of a run that wait for answers: those of as many calls as a program makes at once, and no flood of a server. */
export const MAX_OPEN_QUESTIONS = 100;
/** The size of all of them, with forms and requests for completions. */
export const MAX_OPEN_QUESTIONS_CHARACTERS = 1024 * 1024;
/** The length of the message of a question. A longer one is cut. */
export const MAX_QUESTION_CHARACTERS = 16 * 1024;
/** Output kept of a run under way. */
export const MAX_LIVE_OUTPUT_CHARACTERS = 256 * 1024;

export const DEFAULT_PAGE_BYTES = 16 * 1024;
export const MAX_PAGE_BYTES = 256 * 1024;
export const MAX_SEARCH_RESULTS = 100;

/** Between two progress notifications about tool calls, so that a loop does not flood the client. */
export const MIN_PROGRESS_INTERVAL_MS = 100;

/** The size of a message over stdio. A larger one closes the connection. */
export const MAX_STDIO_MESSAGE_BYTES = 16 * 1024 * 1024;

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 3_000;
export const MAX_BODY_BYTES = 1024 * 1024;
/** Messages of one body, which older revisions allow to be a list. */
export const MAX_BATCH_MESSAGES = 50;
/** Values of the JSON of one body: items of lists and properties of objects. */
export const MAX_JSON_VALUES = 20_000;
/** Levels of lists and objects in it. */
export const MAX_JSON_DEPTH = 200;
/** The length of a property's name in it. */
export const MAX_JSON_NAME_BYTES = 1_024;
/** The length of what a message names: its id, a method, a tool, a URI, a client. */
export const MAX_NAMED_CHARACTERS = 2_048;
/** The length of an argument that is no code, task or variable: a query, a name, a path. */
export const MAX_ARGUMENT_CHARACTERS = 4_096;
/** Problems with arguments that one answer lists. */
export const MAX_LISTED_PROBLEMS = 10;
/** The length of each of them. */
export const MAX_PROBLEM_CHARACTERS = 500;
export const MAX_HEADER_BYTES = 16 * 1024;
export const HEADERS_TIMEOUT_MS = 10_000;
/** For receiving a whole request; the answer may take longer. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** For the next request of a connection: longer than the minute that load balancers keep theirs, so that none sends on one that is being closed. */
export const KEEP_ALIVE_MS = 65_000;
export const MAX_CONNECTIONS = 2_000;
/** Of one address, so that it can't take all of them. */
export const MAX_CONNECTIONS_PER_ADDRESS = 1_000;
/** Where clients of an interrupted event stream are asked to wait before they come again. */
export const STREAM_RETRY_MS = 1_000;
/** How long a request goes on after its event stream was interrupted, for its client to come again. */
export const STREAM_RESUME_MS = 3_000;
/** Events of a session kept for a client that comes again. */
export const MAX_KEPT_EVENTS = 200;
/** The size of those events as JSON. */
export const MAX_KEPT_EVENT_CHARACTERS = 4 * 1024 * 1024;
/** The size of those of all sessions. Beyond it each has the least one. */
export const MAX_ALL_KEPT_EVENT_CHARACTERS = 64 * 1024 * 1024;
export const MIN_KEPT_EVENT_CHARACTERS = 128 * 1024;
/** Sessions of the 2025-11-25 protocol and older, and open SSE streams. */
export const MAX_SESSIONS = 1_000;
export const SESSION_IDLE_MS = 30 * 60_000;
/** A session in which a tool was called, or that a client listens to, is not closed for a newer one before. */
export const SESSION_MIN_IDLE_MS = 10_000;
/** The part of the sessions, and of the connections, that one owner can have. */
export const SESSION_SHARE = 0.5;
export const SESSION_SWEEP_INTERVAL_MS = 60_000;

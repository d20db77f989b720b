/** How long a call waits for its run before it answers with the run's id. Clients give up after about a minute. */
export const DEFAULT_YIELD_AFTER_MS = 45_000;
/** Runs that may be under way or waiting at once, over all clients. */
export const MAX_RUNS = 1_000;
/** Runs that outlasted their call and are kept for `read_result`. */
export const MAX_YIELDED_RUNS = 64;
/** A kept run that nobody asks for so long is ended and forgotten. */
export const YIELDED_RUN_IDLE_MS = 10 * 60_000;
/** Output of a run that is kept while it goes on. */
export const MAX_LIVE_OUTPUT_CHARACTERS = 256 * 1024;

/** A value whose JSON is longer is kept as a result, and its handle stands for it. */
export const MAX_VALUE_CHARACTERS = 32 * 1024;
/** Output beyond this is kept as a result, and its beginning and end are shown. */
export const MAX_OUTPUT_CHARACTERS = 16 * 1024;
/** One image, sound or file that an answer carries, in bytes. */
export const MAX_ATTACHMENT_BYTES = 1024 * 1024;
/** All that one answer carries, in bytes. */
export const MAX_ATTACHMENTS_BYTES = 4 * 1024 * 1024;
export const MAX_ATTACHMENTS = 8;

export const DEFAULT_PAGE_BYTES = 16 * 1024;
export const MAX_PAGE_BYTES = 256 * 1024;
export const MAX_SEARCH_RESULTS = 100;

/** Between two messages about tool calls, so that a busy loop does not flood the client. */
export const MIN_PROGRESS_INTERVAL_MS = 100;

/** A message over stdio, in bytes. A longer one ends the connection. */
export const MAX_STDIO_MESSAGE_BYTES = 16 * 1024 * 1024;

export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_PORT = 3_000;
export const MAX_BODY_BYTES = 4 * 1024 * 1024;
export const MAX_HEADER_BYTES = 16 * 1024;
export const HEADERS_TIMEOUT_MS = 10_000;
/** For a whole request to arrive; the answer may take longer. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const MAX_CONNECTIONS = 2_000;
/** Sessions of the older protocol, and open SSE streams. */
export const MAX_SESSIONS = 1_000;
export const SESSION_IDLE_MS = 30 * 60_000;
export const SESSION_SWEEP_INTERVAL_MS = 60_000;

/** Runs that are kept for the console, of all clients. The oldest that ended are forgotten first. */
export const MAX_KEPT_RUNS = 500;
/** Of one client or customer, so that it can't push out those of others. */
export const MAX_KEPT_RUNS_PER_AUDIENCE = 100;
/** Of the task or code, and of what a run printed: the rest is cut, and the answer says so. */
export const MAX_TEXT_CHARACTERS = 64 * 1024;
/** Of a run's value as JSON. A larger one is left out. */
export const MAX_VALUE_CHARACTERS = 64 * 1024;
export const MAX_KEPT_CALLS = 500;
export const MAX_TITLE_CHARACTERS = 200;
/** Open event streams of one client or customer. */
export const MAX_STREAMS_PER_AUDIENCE = 50;
/** Between two events of one run. */
export const EVENT_INTERVAL_MS = 100;
/** Keeps proxies from closing a stream on which nothing happens. */
export const HEARTBEAT_MS = 15_000;
export const MAX_LISTED_RUNS = 1_000;
export const DEFAULT_LISTED_RUNS = 200;
export const MAX_QUERY_CHARACTERS = 1_000;
export const MAX_SEARCH_RESULTS = 50;

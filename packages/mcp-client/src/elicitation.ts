/** How long a person has to answer. */
export const DEFAULT_ELICIT_TIMEOUT_MS = 10 * 60_000;

/** A `file:` or `javascript:` address must never reach a browser. */
export function isSafeUrl(url: unknown): url is string {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

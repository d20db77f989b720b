/** Whether a value is an `http:` or `https:` URL. Any other URL, such as `file:` or `javascript:`, is not to be opened. */
export function isWebUrl(url: unknown): url is string {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

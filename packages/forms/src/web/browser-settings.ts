/** The browser that fills web pages. */
export interface BrowserSettings {
  /**
   * The file of a Chromium or Chrome.
   *
   * @defaultValue the environment's `CHROMIUM_PATH`, else the first of `chromium`, `chromium-browser`, `google-chrome` and
   *   `google-chrome-stable` on the PATH
   */
  executable?: string | undefined;
  /**
   * The most time for one form, in milliseconds.
   *
   * @defaultValue 120,000
   */
  timeoutMs?: number | undefined;
  /**
   * Whether the browser's own sandbox holds its pages.
   *
   * @defaultValue true, but for root, whom Chromium refuses it
   */
  sandbox?: boolean | undefined;
  /**
   * Whether no window is shown.
   *
   * @defaultValue true
   */
  headless?: boolean | undefined;
}

import { setTimeout as delay } from "node:timers/promises";
import { abandonOnAbort, CemError } from "@cem/core";
import type { Locator, Page } from "playwright-core";
import type { WebTargetDefinition } from "../form/form-schema.ts";
import type { FillOutcome, FillRequest, FormTarget } from "../targets/target.ts";
import { openBrowser } from "./browser.ts";
import type { BrowserSettings } from "./browser.ts";
import type { PageElement } from "./control.ts";
import { startOriginProxy } from "./origin-proxy.ts";
import { PageFilling } from "./page-filling.ts";
import { keepScreenshot } from "./screenshots.ts";
import type { ScreenshotSettings } from "./screenshots.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
/** How long a page may take to answer to a button. */
const STEP_TIMEOUT_MS = 15_000;
const POLL_MS = 100;
/** How long a page may take to begin to send what its browser holds for incomplete. */
const SETTLE_MS = 500;

/** Settings of {@link createWebTarget}. */
export interface WebTargetSettings extends BrowserSettings, ScreenshotSettings {}

/**
 * Creates a target that fills web pages in the system's Chromium. It needs the optional package `playwright-core`. Each form
 * gets a browser of its own, which can reach the origins that the form names and nothing else.
 */
export function createWebTarget(settings: WebTargetSettings = {}): FormTarget {
  return {
    specificationVersion: "v1",
    async fill(request) {
      const { target } = request.form;
      if (target?.type !== "web") throw new CemError("OPTION_INVALID", "The form does not fill a web page.");
      const { timeoutMs = DEFAULT_TIMEOUT_MS } = settings;
      const origins = [target.url, ...target.allowed_origins].map((url) => new URL(url).origin);
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([request.signal, timeout]);
      const proxy = await startOriginProxy(origins);
      let visit: Visit | undefined;
      try {
        const browser = await openBrowser(settings, proxy.address);
        try {
          const page = await browser.context.newPage();
          // A page that opens others has no use for them here.
          browser.context.on("page", (other) => void other.close().catch(() => undefined));
          visit = new Visit(page, target, new Set(origins), request, settings);
          return await abandonOnAbort(visit.run(), signal);
        } finally {
          await browser.close();
        }
      } catch (error) {
        request.signal.throwIfAborted();
        if (timeout.aborted) throw failed(`took longer than ${timeoutMs / 1_000} s`, visit?.uncertainty);
        throw CemError.isInstance(error) ? error : failed("went away or stopped working", visit?.uncertainty);
      } finally {
        proxy.close();
      }
    },
  };
}

/** One form in one browser. */
class Visit {
  readonly #page: Page;
  readonly #target: WebTargetDefinition;
  readonly #origins: ReadonlySet<string>;
  readonly #request: FillRequest;
  readonly #filling: PageFilling;
  readonly #settings: WebTargetSettings;
  readonly #screenshots: string[] = [];
  /** Details of errors, which say from the click on that the form may have been sent. */
  uncertainty: { isUncertain?: true } = {};
  /** Where the page was led to last, be it allowed or not. */
  #address = "";
  #requests = 0;

  constructor(
    page: Page,
    target: WebTargetDefinition,
    origins: ReadonlySet<string>,
    request: FillRequest,
    settings: WebTargetSettings,
  ) {
    this.#page = page;
    this.#target = target;
    this.#origins = origins;
    this.#request = request;
    this.#settings = settings;
    this.#filling = new PageFilling(page, request.fields, settings.workspace);
    page.on("request", (asked) => {
      this.#requests += 1;
      if (asked.isNavigationRequest() && asked.frame() === page.mainFrame()) this.#address = asked.url();
    });
  }

  async run(): Promise<FillOutcome> {
    await this.#open();
    const filling = this.#filling;
    for (let number = 1; ; number += 1) {
      await filling.fillPage();
      this.#assertOrigin();
      await this.#picture();
      if (filling.problems.length > 0 || !(await this.#needsNext())) break;
      if (number >= this.#target.max_pages || !(await this.#next())) break;
    }
    filling.giveUp();
    return {
      ...(await this.#send()),
      readings: filling.readings,
      problems: filling.problems,
      screenshots: this.#screenshots,
    };
  }

  async #open(): Promise<void> {
    const answer = await this.#page
      .goto(this.#target.url, { waitUntil: "domcontentloaded" })
      .catch(() => undefined);
    this.#assertOrigin();
    if (answer === null || answer === undefined) throw failed("can't be opened: it does not answer");
    if (!answer.ok()) throw failed(`can't be opened: it answers with status ${answer.status()}`);
  }

  /** Whether there is a page behind this one: fields are left, or the button that sends is not here. */
  async #needsNext(): Promise<boolean> {
    const { next, submit } = this.#target;
    if (next === undefined) return false;
    if (this.#filling.left.size > 0) return true;
    return submit !== undefined && (await this.#button(submit)) === undefined;
  }

  /** Goes to the next page. @returns whether the page went on. */
  async #next(): Promise<boolean> {
    const { next = "", submit } = this.#target;
    const button = await this.#button(next);
    if (button === undefined) return false;
    const [anchor] = [...this.#filling.controls.values()];
    const url = this.#page.url();
    await button.click();
    const ends = performance.now() + STEP_TIMEOUT_MS;
    while (performance.now() < ends) {
      this.#assertOrigin();
      const isGone =
        anchor !== undefined &&
        !(await anchor.locator
          .first()
          .isVisible()
          .catch(() => false));
      if (isGone || this.#page.url() !== url) break;
      if (await this.#filling.showsMore()) return true;
      if (submit !== undefined && (await this.#button(submit)) !== undefined) return true;
      await delay(POLL_MS);
    }
    if (performance.now() >= ends) {
      this.#filling.problems.push({ message: "The page did not go on after its next button was pressed." });
      return false;
    }
    await this.#page.waitForLoadState("domcontentloaded");
    return true;
  }

  async #send(): Promise<Pick<FillOutcome, "submitted">> {
    const { submit, confirmation } = this.#target;
    const { problems, readings } = this.#filling;
    const isRight = problems.length === 0 && readings.every(({ matches }) => matches);
    if (submit === undefined || this.#request.isTrial || !isRight) return { submitted: false };
    const button = await this.#button(submit);
    if (button === undefined) {
      problems.push({ message: "The button that sends the form is not found on the page." });
      return { submitted: false };
    }
    this.uncertainty = { isUncertain: true };
    const before = this.#requests;
    const element = await button.elementHandle();
    await button.click();
    // A page that went on has no such element.
    if (await element?.evaluate(isHeld).catch(() => false)) {
      await delay(SETTLE_MS);
      if (this.#requests === before) {
        this.uncertainty = {};
        problems.push({ message: NOT_SENT });
        await this.#picture();
        return { submitted: false };
      }
    }
    if (confirmation !== undefined && !(await this.#shows(confirmation))) {
      problems.push({ message: "The form was sent, and the page does not show the confirmation." });
    }
    await this.#page.waitForLoadState("load", { timeout: STEP_TIMEOUT_MS }).catch(() => undefined);
    this.#assertOrigin();
    this.#filling.controls.clear();
    await this.#picture();
    return { submitted: true };
  }

  /** The one visible and enabled button of a name. */
  async #button(name: string): Promise<Locator | undefined> {
    for (const frame of this.#page.frames()) {
      const exactly = { name, exact: true };
      const named = frame.getByRole("button", exactly).or(frame.getByRole("link", exactly));
      for (const button of await named.all()) {
        if ((await button.isVisible().catch(() => false)) && (await button.isEnabled().catch(() => false)))
          return button;
      }
    }
    return undefined;
  }

  async #shows(text: string): Promise<boolean> {
    const ends = performance.now() + STEP_TIMEOUT_MS;
    while (performance.now() < ends) {
      this.#assertOrigin();
      for (const frame of this.#page.frames()) {
        if (
          await frame
            .getByText(text)
            .first()
            .isVisible()
            .catch(() => false)
        )
          return true;
      }
      await delay(POLL_MS);
    }
    return false;
  }

  async #picture(): Promise<void> {
    const { form, fields } = this.#request;
    const name = `${form.name}-${this.#screenshots.length + 1}`;
    const take = (): Promise<string | undefined> =>
      keepScreenshot(this.#page, name, fields, this.#filling.controls, this.#settings);
    // A page that is just going on is looked at again; a form that was sent is not lost for want of a picture.
    const file = await take().catch(async () => {
      await this.#page.waitForLoadState("load", { timeout: STEP_TIMEOUT_MS }).catch(() => undefined);
      return take().catch(() => undefined);
    });
    if (file !== undefined) this.#screenshots.push(file);
  }

  /** @throws CemError `FORM_TARGET_FAILED` where the page has led elsewhere. */
  #assertOrigin(): void {
    for (const url of [this.#page.url(), this.#address]) {
      if (url === "" || url === "about:blank") continue;
      const { origin, protocol } = new URL(url);
      if (this.#origins.has(origin)) continue;
      // The browser's own page, which says that there is no answer.
      if (protocol === "chrome-error:") continue;
      throw failed(
        `led to ${origin}, which is not allowed. If it is meant, name it in target.allowed_origins`,
        { ...this.uncertainty, origin },
      );
    }
  }
}

const NOT_SENT =
  "The form was not sent: the page does not take it as it is filled in, most likely for want of a required field that the form here lacks. See the screenshot.";

/** Whether the browser keeps a button from submitting its form, for a value that is missing or wrong. */
function isHeld({ form, formNoValidate = false }: PageElement): boolean {
  return form != null && !form.noValidate && !formNoValidate && form.matches(":invalid");
}

function failed(what: string, details: { isUncertain?: true; origin?: string } = {}): CemError {
  const sent = details.isUncertain === true ? " The form may have been sent." : "";
  return new CemError("FORM_TARGET_FAILED", `The page ${what}.${sent}`, { details: { ...details } });
}

import { setTimeout as delay } from "node:timers/promises";
import { abandonOnAbort, CemError } from "@cem/core";
import type { Locator, Page } from "playwright-core";
import type { WebTargetDefinition } from "../form/form-schema.ts";
import type { FillOutcome, FillRequest, FormTarget } from "../targets/target.ts";
import { openBrowser, type BrowserSettings } from "./browser.ts";
import type { PageElement } from "./control.ts";
import { startOriginProxy } from "./origin-proxy.ts";
import { fillPages } from "./page-filling.ts";
import { keepScreenshot, type ScreenshotSettings } from "./screenshots.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
/** How long a page may take to respond to a button. */
const STEP_TIMEOUT_MS = 15_000;
const POLL_MS = 100;
/** How long a page may take to start sending a form that the browser considers incomplete. */
const SETTLE_MS = 500;

/** Settings of {@link createWebTarget}. */
export interface WebTargetSettings extends BrowserSettings, ScreenshotSettings {}

/**
 * Creates a target that fills web pages in the system's Chromium. It needs the optional package `playwright-core`. Each
 * form gets its own browser, which can reach only the origins that the form names.
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
      let visit: ReturnType<typeof visitPage> | undefined;
      try {
        const browser = await openBrowser(settings, proxy.address);
        try {
          const page = await browser.context.newPage();
          // Closes other pages that the page opens.
          browser.context.on("page", (other) => void other.close().catch(() => undefined));
          visit = visitPage(page, target, new Set(origins), request, settings);
          return await abandonOnAbort(visit.run(), signal);
        } finally {
          await browser.close();
        }
      } catch (error) {
        request.signal.throwIfAborted();
        if (timeout.aborted) throw failed(`took longer than ${timeoutMs / 1_000} s`, visit?.uncertainty());
        if (CemError.isInstance(error)) throw error;
        throw failed("went away or stopped working", visit?.uncertainty());
      } finally {
        proxy.close();
      }
    },
  };
}

function visitPage(
  page: Page,
  target: WebTargetDefinition,
  origins: ReadonlySet<string>,
  request: FillRequest,
  settings: WebTargetSettings,
) {
  const { next, submit, confirmation } = target;
  const filling = fillPages(page, request.fields, settings.workspace);
  const { readings, problems } = filling;
  const screenshots: string[] = [];
  /** Details of errors. From the click on, they say that the form may have been sent. */
  let uncertainty: { isUncertain?: true } = {};
  /** The last address that the page navigated to, allowed or not. */
  let address = "";
  let requests = 0;
  page.on("request", (asked) => {
    requests += 1;
    if (asked.isNavigationRequest() && asked.frame() === page.mainFrame()) address = asked.url();
  });

  /** @throws CemError `FORM_TARGET_FAILED` when the page navigated to another origin. */
  const assertOrigin = (): void => {
    for (const url of [page.url(), address]) {
      if (url === "" || url === "about:blank") continue;
      const { origin, protocol } = new URL(url);
      // The browser's own error page means that there is no answer.
      if (origins.has(origin) || protocol === "chrome-error:") continue;
      const message = `led to ${origin}, which is not allowed. If it is meant, name it in target.allowed_origins`;
      throw failed(message, { ...uncertainty, origin });
    }
  };

  const open = async (): Promise<void> => {
    const answer = await page.goto(target.url, { waitUntil: "domcontentloaded" }).catch(() => undefined);
    assertOrigin();
    if (answer === null || answer === undefined) throw failed("can't be opened: it does not answer");
    if (!answer.ok()) throw failed(`can't be opened: it answers with status ${answer.status()}`);
  };

  const picture = async (): Promise<void> => {
    const { form, fields } = request;
    const name = `${form.name}-${screenshots.length + 1}`;
    const take = () => keepScreenshot(page, name, fields, filling.here, settings);
    // Retries when the page is just navigating. A missing screenshot must not fail a form that was sent.
    const file = await take().catch(async () => {
      await page.waitForLoadState("load", { timeout: STEP_TIMEOUT_MS }).catch(() => undefined);
      return take().catch(() => undefined);
    });
    if (file !== undefined) screenshots.push(file);
  };

  const findButton = async (name: string): Promise<Locator | undefined> => {
    for (const frame of page.frames()) {
      const exactly = { name, exact: true };
      const named = frame.getByRole("button", exactly).or(frame.getByRole("link", exactly));
      for (const button of await named.all()) {
        if ((await button.isVisible().catch(() => false)) && (await button.isEnabled().catch(() => false)))
          return button;
      }
    }
    return undefined;
  };

  /** Whether another page follows: fields are left, or the submit button is not on this page. */
  const needsNext = async (): Promise<boolean> => {
    if (next === undefined) return false;
    if (filling.left.size > 0) return true;
    return submit !== undefined && (await findButton(submit)) === undefined;
  };

  /** Goes to the next page. @returns whether the page changed. */
  const goOn = async (): Promise<boolean> => {
    const button = await findButton(next ?? "");
    if (button === undefined) return false;
    const [anchor] = filling.here.values();
    const url = page.url();
    await button.click();
    const ends = performance.now() + STEP_TIMEOUT_MS;
    while (performance.now() < ends) {
      assertOrigin();
      const isGone = anchor !== undefined && !(await isShown(anchor.control.locator));
      if (isGone || page.url() !== url) break;
      if (await filling.showsMore()) return true;
      if (submit !== undefined && (await findButton(submit)) !== undefined) return true;
      await delay(POLL_MS);
    }
    if (performance.now() >= ends) {
      problems.push({ message: "The page did not go on after its next button was pressed." });
      return false;
    }
    await page.waitForLoadState("domcontentloaded");
    return true;
  };

  const shows = async (text: string): Promise<boolean> => {
    const ends = performance.now() + STEP_TIMEOUT_MS;
    while (performance.now() < ends) {
      assertOrigin();
      for (const frame of page.frames()) if (await isShown(frame.getByText(text))) return true;
      await delay(POLL_MS);
    }
    return false;
  };

  /** @returns whether the form was sent */
  const send = async (): Promise<boolean> => {
    const isRight = problems.length === 0 && readings.every(({ matches }) => matches);
    if (submit === undefined || request.isTrial || !isRight) return false;
    const button = await findButton(submit);
    if (button === undefined) {
      problems.push({ message: "The button that sends the form is not found on the page." });
      return false;
    }
    uncertainty = { isUncertain: true };
    const before = requests;
    const element = await button.elementHandle();
    await button.click();
    // A page that navigated has no such element.
    if (await element?.evaluate(isHeld).catch(() => false)) {
      await delay(SETTLE_MS);
      if (requests === before) {
        uncertainty = {};
        problems.push({ message: NOT_SENT });
        await picture();
        return false;
      }
    }
    if (confirmation !== undefined && !(await shows(confirmation)))
      problems.push({ message: "The form was sent, and the page does not show the confirmation." });
    await page.waitForLoadState("load", { timeout: STEP_TIMEOUT_MS }).catch(() => undefined);
    assertOrigin();
    filling.here.clear();
    await picture();
    return true;
  };

  const run = async (): Promise<FillOutcome> => {
    await open();
    for (let number = 1; ; number += 1) {
      await filling.fillPage();
      assertOrigin();
      await picture();
      if (problems.length > 0 || !(await needsNext())) break;
      if (number >= target.max_pages || !(await goOn())) break;
    }
    filling.giveUp();
    return { submitted: await send(), readings, problems, screenshots };
  };

  return { run, uncertainty: () => uncertainty };
}

function isShown(locator: Locator): Promise<boolean> {
  return locator
    .first()
    .isVisible()
    .catch(() => false);
}

const NOT_SENT =
  "The form was not sent: the page does not take it as it is filled in, most likely for want of a required field that the form here lacks. See the screenshot.";

/** Whether the browser's validation keeps a button from submitting its form. */
function isHeld({ form, formNoValidate = false }: PageElement): boolean {
  return form != null && !form.noValidate && !formNoValidate && form.matches(":invalid");
}

function failed(what: string, details: { isUncertain?: true; origin?: string } = {}): CemError {
  const sent = details.isUncertain === true ? " The form may have been sent." : "";
  return new CemError("FORM_TARGET_FAILED", `The page ${what}.${sent}`, { details: { ...details } });
}
